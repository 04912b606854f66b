/** Queries for links: a field and a value that somebody else wrote, so that the list shows what a number sums. */
import { href } from '../router.ts'

export function field(name: string, value: string): string {
  return `${name}:"${value.replaceAll('"', '\\"')}"`
}

export const sessionsHref = (q: string, sort?: string): string =>
  href({ view: 'sessions', params: { q, ...(sort !== undefined && { sort }) } })

/** The session at the entry that a citation names. */
export const citedHref = (session: string, citation: string): string =>
  href({ view: 'session', id: session, params: { at: citation } })
