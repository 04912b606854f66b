/**
 * Questions about models and tokens, answered as they were: the same one, the same but for what normalisers leave out, else another one
 * that was asked at the same place, each of which is said. None is answered with a page of a list that was not asked for.
 */
import { canonical } from '../replay/matching/canonical.ts'
import { WAYS, type MatchWay } from '../replay/matching/matcher.ts'
import { findNeeded } from '../replay/matching/needed.ts'
import { wayOf, type Normaliser, type Way } from '../replay/matching/normalisers.ts'
import type { Json } from '../transcript/json.ts'
import { toInquiry, type TapeInquiryJson } from '../wire/tape.ts'
import type { PlayedAnswer } from './answer.ts'
import type { LiveRequest } from './live-request.ts'

export type Inquiry = TapeInquiryJson['inquiry'] & {
  readonly session: string
  readonly call: string
  /** Undefined where the tape does not have it: there was a secret in it. */
  answer(): PlayedAnswer | undefined
}

export type FoundInquiry = {
  readonly how: MatchWay
  /** Which normalisers it took. */
  readonly by?: readonly string[]
  readonly inquiry: Inquiry
  readonly answer: PlayedAnswer
}

export type Inquiries = {
  /** Undefined where the recording has none. `redact`: as the recording was. */
  choose(live: LiveRequest, redact: (body: Json) => Json): FoundInquiry | undefined
}

export function createInquiries(
  recorded: readonly Inquiry[],
  normalisers: readonly Normaliser[],
  loosest: MatchWay = 'positional',
): Inquiries {
  const way = wayOf(normalisers)
  const given = new Set<Inquiry>()
  const ways = WAYS.slice(0, WAYS.indexOf(loosest) + 1)
  return {
    choose({ method, url, body }, redact) {
      if (recorded.length === 0) return undefined
      const live = toInquiry(method, url, body === undefined ? undefined : redact(body))
      const near = recorded.filter(
        (one) => one.method === method && isSamePlace(one.path, live.path) && isSameBy(one.query, live.query),
      )
      for (const how of ways) {
        const found = near.filter(
          (one) => how === 'positional' || isSameBy(one.body, live.body, how === 'exact' ? undefined : way),
        )
        // In their order, and the last again: nobody counts how often lists are read.
        const inquiry = found.find((one) => !given.has(one)) ?? found.at(-1)
        const answer = inquiry?.answer()
        if (inquiry === undefined || answer === undefined) continue
        given.add(inquiry)
        const by =
          how === 'normalised' ? findNeeded(inquiry.body ?? null, live.body ?? null, normalisers).by : []
        return { how, inquiry, answer, ...(by.length > 0 && { by }) }
      }
      return undefined
    },
  }
}

/** The first name of a path is where the proxy finds the provider: programs may be told it or not. */
function isSamePlace(one: string, other: string): boolean {
  return one === other || one.endsWith(other) || other.endsWith(one)
}

function isSameBy(one: Json | undefined, other: Json | undefined, way?: Way): boolean {
  return canonical(one ?? null, way) === canonical(other ?? null, way)
}
