/** An answer as it was typed, where the proxy kept its frames: the text that is shown, in parts, each with the wait before it. */
import { openArchive } from '../../archive/archive.ts'
import { openTape, type TapeFile } from '../../playback/tape-file.ts'
import { visible } from '../../replay/escape.ts'
import { deltasOf } from '../../replay/playback/cadence.ts'
import { textOf } from '../../transcript/block.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { Shown } from './player.ts'

export type Typing = {
  /** Undefined where it is not known how it was typed, or that is not what is shown. */
  parts(entry: Entry, shown: string): NonNullable<Shown['typed']> | undefined
  close(): void
}

export function openTyping(session: string, home: string | undefined): Typing {
  let tape: TapeFile | undefined
  try {
    const archive = openArchive(home)
    tape = archive.ids().includes(session)
      ? openTape(archive.files, archive.sessionFolder(session))
      : undefined
  } catch {
    // Played without it.
  }
  return {
    parts(entry, shown) {
      const call = entry.metadata?.['call']
      if (tape === undefined || entry.role !== 'assistant' || typeof call !== 'string') return undefined
      const answer = tape.answer(call)
      return answer && toParts(shown, visible(textOf(entry.blocks)), deltasOf(answer))
    },
    close: () => tape?.close(),
  }
}

function toParts(
  shown: string,
  said: string,
  deltas: ReturnType<typeof deltasOf>,
): NonNullable<Shown['typed']> | undefined {
  const typed = deltas.map(({ text }) => visible(text))
  const from = said === '' ? -1 : shown.indexOf(said)
  if (from === -1 || typed.join('') !== said) return undefined
  return [
    { ms: 0, text: shown.slice(0, from) },
    ...deltas.map(({ ms }, at) => ({ ms: ms - (deltas[at - 1]?.ms ?? ms), text: typed[at] ?? '' })),
    { ms: 0, text: shown.slice(from + said.length) },
  ]
}
