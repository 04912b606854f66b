/** The keys of a session. */
import type { RefObject } from 'preact'
import { isAlone } from '../../api.ts'
import { useKeys } from '../../keys.ts'
import { entryHref, navigate } from '../../router.ts'
import { copyText } from '../../ui/copy.tsx'
import { entryMarkdown } from './as-markdown.ts'
import { goBeside } from './beside.ts'
import type { Going } from './going.ts'
import { turnRecords, type Shown } from './shown.ts'
import type { SessionStore } from './store.ts'
import { partsOf } from './ways.ts'

export type SessionKeysOptions = {
  readonly store: SessionStore
  readonly shown: Shown
  readonly going: Going
  readonly input: RefObject<HTMLInputElement | null>
  readonly onRaw: (position: number) => void
}

export function useSessionKeys({ store, shown, going, input, onRaw }: SessionKeysOptions): void {
  const withSelected = (run: (position: number) => void) => (): void => {
    const { value: position } = shown.selected
    if (position !== undefined) run(position)
  }
  const turn = (position: number): void => {
    for (const part of partsOf(store, position)) shown.turn(position, part)
  }
  const link = (position: number): void => void copyText(new URL(entryHref(position), location.href).href)
  const markdown = (position: number): void => {
    const row = store.pages.get(position)
    if (row !== undefined) void copyText(entryMarkdown(row, store.pages))
  }
  const { jump, move, goTo } = going
  useKeys('Session', [
    { keys: ['j'], says: 'Next entry', run: () => move(1) },
    { keys: ['k'], says: 'Previous entry', run: () => move(-1) },
    { keys: ['n'], says: 'Next prompt', run: () => jump('prompt', 1) },
    { keys: ['p'], says: 'Previous prompt', run: () => jump('prompt', -1) },
    { keys: ['e'], says: 'Next error', run: () => jump('error', 1) },
    { keys: ['E'], says: 'Previous error', run: () => jump('error', -1) },
    { keys: ['d'], says: 'Next edit', run: () => jump('edit', 1) },
    { keys: ['D'], says: 'Previous edit', run: () => jump('edit', -1) },
    { keys: ['t'], says: 'Next tool call', run: () => jump('tool', 1) },
    { keys: ['T'], says: 'Previous tool call', run: () => jump('tool', -1) },
    { keys: ['o'], says: 'Open or fold the entry', run: withSelected(turn) },
    { keys: ['x'], says: 'Open or fold everything', run: () => shown.turnAll() },
    { keys: ['v'], says: 'Show or hide records', run: turnRecords },
    { keys: ['/'], says: 'Find in this session', run: () => input.current?.focus() },
    { keys: ['c'], says: 'Copy a link to the entry', run: withSelected(link) },
    { keys: ['m'], says: 'Copy the entry as Markdown', run: withSelected(markdown) },
    { keys: ['r'], says: 'The record of the entry', run: withSelected(onRaw) },
    { keys: ['G'], says: 'The newest entry', run: () => goTo(store.length.peek() - 1) },
    { keys: ['g g'], says: 'The first entry', run: () => goTo(0) },
    ...(isAlone
      ? []
      : [
          { keys: [']'], says: 'The next session of the list', run: () => void goBeside(store.id, 1) },
          {
            keys: ['C'],
            says: 'Compare with another session',
            run: () => navigate({ view: 'diff', params: { a: store.id } }),
          },
          { keys: ['['], says: 'The session before it', run: () => void goBeside(store.id, -1) },
        ]),
  ])
}
