/**
 * What has come of answers that are still coming, put beside their sessions a few times a second: a recorder that is killed leaves it to
 * whoever reads. It takes at most a fiftieth of its thread's time; what that is too little for waits its turn.
 */
import { changeText } from '../../transcript/block.ts'
import type { WireMessage } from '../../wire/message.ts'
import type { Recorder } from '../record.ts'

export type Coming = {
  /** More of it has come. */
  touch(): void
  /** It is over, and recorded. */
  end(): void
}

export type ComingAnswer = {
  readonly session: Recorder
  readonly call: string
  readonly message: WireMessage
}

export type UnfinishedAnswers = {
  /** `look`: undefined as long as there is nothing to tell. */
  begin(look: () => ComingAnswer | undefined): Coming
}

type Held = { readonly look: () => ComingAnswer | undefined; isNew: boolean; session: Recorder | undefined }

/** Milliseconds between two looks at the same session. */
const EVERY_MS = 200
/** The part of the time that it may take. */
const SHARE = 50
/** Characters of one answer: of a longer one, what was told last stays. */
const MOST_CHARACTERS = 1024 * 1024

export function createUnfinishedAnswers(everyMs = EVERY_MS): UnfinishedAnswers {
  /** In the order of their next look. */
  const open = new Set<Held>()
  /** Sessions of answers that are over, of which something may still lie there. */
  const over = new Set<Recorder>()
  let timer: NodeJS.Timeout | undefined

  const again = (ms: number): void => {
    timer ??= setTimeout(look, ms)
    timer.unref()
  }
  /** One session at a time: whoever passes bytes on may have to wait for as long as this takes. */
  const look = (): void => {
    timer = undefined
    const began = performance.now()
    const session = next()
    if (session !== undefined) tell(session)
    const count = open.size + over.size
    if (count === 0) return
    const rest = session === undefined ? everyMs : everyMs / count
    again(Math.max(rest, (performance.now() - began) * SHARE))
  }
  /** Of which something is new, or something is over: those that were told of went behind the others. */
  const next = (): Recorder | undefined => {
    for (const held of open) {
      if (!held.isNew) continue
      held.session ??= held.look()?.session
      if (held.session !== undefined) return held.session
    }
    const [session] = over
    return session
  }
  /** All of a session, for they share a file. */
  const tell = (session: Recorder): void => {
    over.delete(session)
    const own = [...open].filter((held) => held.session === session)
    const answers = own.flatMap((held) => {
      held.isNew = false
      open.delete(held)
      open.add(held)
      const coming = held.look()
      return coming === undefined ? [] : [{ call: coming.call, message: withoutLastWord(coming.message) }]
    })
    session.unfinished(answers.filter(({ message }) => message.blocks.length > 0 && isShort(message)))
  }

  return {
    begin(found) {
      const held: Held = { look: found, isNew: true, session: undefined }
      open.add(held)
      again(everyMs)
      return {
        touch() {
          held.isNew = true
        },
        end() {
          open.delete(held)
          if (held.session !== undefined) over.add(held.session)
        },
      }
    },
  }
}

/** The last word may be the beginning of a secret, which nobody can tell yet. */
function withoutLastWord(message: WireMessage): WireMessage {
  const last = message.blocks.at(-1)
  return last === undefined
    ? message
    : { ...message, blocks: [...message.blocks.slice(0, -1), changeText(last, words)] }
}

function words(text: string): string {
  let end = text.length
  while (end > 0 && !/\s/.test(text[end - 1] as string)) end -= 1
  return text.slice(0, end)
}

function isShort({ blocks }: WireMessage): boolean {
  let characters = 0
  for (const block of blocks)
    if ('text' in block && typeof block.text === 'string') characters += block.text.length
    else if ('input' in block && typeof block.input === 'string') characters += block.input.length
  return characters <= MOST_CHARACTERS
}
