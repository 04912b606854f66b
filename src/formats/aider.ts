/**
 * Aider's chat history, read: `.aider.chat.history.md`, which every chat in a folder is added to. `#### ` is the user's, `> ` the
 * program's, all else the model's; nothing is escaped, so a line that looks like a mark is one. Each chat is a session.
 */
import { parseInstant } from '../transcript/instant.ts'
import { readLines, type Line } from '../transcript/lines.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { Usage } from '../transcript/usage.ts'
import { costOf } from './dollars.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { createJoinedText, type JoinedText } from './joined-text.ts'
import { PLACES } from './places.ts'
import type { Said } from './placing.ts'
import type { Telling } from './telling.ts'

export const aider = fileFormat({
  id: 'aider',
  title: 'Aider: .aider.chat.history.md',
  look: lookAtHistory,
  read: readHistory,
  places: PLACES.aider,
})

const STARTED = /^# aider chat started at (\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})\s*$/

function lookAtHistory({ text }: Head): Detection | undefined {
  const first = /^\uFEFF?\s*(#[^\n]{0,200})/.exec(text)?.[1]
  return first !== undefined && STARTED.test(first)
    ? { confidence: 0.98, reason: 'a chat that was started' }
    : undefined
}

type Kind = 'user' | 'console' | 'assistant'
type Part = { readonly kind: Kind; readonly first: Line; last: Line; readonly said: JoinedText }

/** A part that is longer goes on in a second entry: memory is bounded. */
const PART_LENGTH = 8 * 1024 * 1024

async function* readHistory(file: SourceFile, { open }: FileReading): AsyncGenerator<readonly ReadItem[]> {
  let chats = 0
  let telling = open(chats)
  let chat: Chat = {}
  let part: Part | undefined
  const finish = (): void => {
    if (part !== undefined) tell(part, telling, file.path, chat)
    part = undefined
  }
  for await (const lines of readLines(file.chunks())) {
    const items: ReadItem[] = []
    for (const line of lines) {
      const text = line.text ?? ''
      const started = STARTED.exec(text)?.[1]
      if (started !== undefined) {
        finish()
        items.push(...telling.end())
        chats += 1
        telling = open(chats)
        chat = {}
        const at = parseInstant(started)
        telling.know({ ...(at !== undefined && { startedAt: at }) })
        telling.say(
          { kind: 'event', ...(at !== undefined && { at }), blocks: [], metadata: { record: 'started' } },
          placeOf(file.path, line, line),
        )
        continue
      }
      const kind = kindOf(text)
      const said = kind === 'assistant' ? text : text.replace(/^(?:####|>) ?/, '').trimEnd()
      const isLong = part !== undefined && part.said.length > PART_LENGTH
      if (part === undefined || part.kind !== kind || isLong) {
        finish()
        part = { kind, first: line, last: line, said: createJoinedText(said) }
        continue
      }
      // Blank lines are passed over by who reads lines; their numbers tell of them.
      part.said.add(`${'\n'.repeat(Math.min(line.number - part.last.number, 100))}${said}`)
      part.last = line
    }
    yield items
    yield telling.take()
  }
  finish()
  yield telling.end()
}

function kindOf(text: string): Kind {
  if (text.startsWith('#### ')) return 'user'
  return /^>(?: |$)/.test(text) ? 'console' : 'assistant'
}

const placeOf = (file: string, first: Line, last: Line) => ({
  file,
  number: first.number,
  byteOffset: first.byteOffset,
  byteLength: last.byteOffset + last.byteLength - first.byteOffset,
})

/** The model that answers, from where it is named on. */
type Chat = { model?: string }

function tell({ kind, first, last, said: joined }: Part, telling: Telling, file: string, chat: Chat): void {
  const place = placeOf(file, first, last)
  const text = joined.text()
  if (kind !== 'console') {
    const by = kind === 'assistant' && chat.model !== undefined ? { model: chat.model } : {}
    telling.say({ kind: 'message', role: kind, blocks: [{ type: 'text', text }], ...by }, place)
    return
  }
  const model = /^(?:Main model|Model|Models): (\S{1,200}) with /m.exec(text)?.[1]
  const version = /^Aider v(\S{1,50})/m.exec(text)?.[1]
  if (model !== undefined) chat.model = model
  telling.know({ ...(model !== undefined && { model }), ...(version !== undefined && { version }) })
  const said: Said = { kind: 'event', blocks: [{ type: 'text', text }], metadata: { record: 'console' } }
  const counted = COUNTED.exec(text)
  if (counted === null) return telling.say(said, place)
  telling.spend(costOf(Number(/Cost: \$([\d.]{1,20}) message/.exec(text)?.[1] ?? Number.NaN)))
  const by = chat.model === undefined ? {} : { model: chat.model }
  telling.say({ ...said, ...by, usage: usageOf(counted[0]) }, place)
}

const COUNTED = /^Tokens: [^\n]{1,200}/m

/** Rounded, and written after the answer that it is of: `Tokens: 12k sent, 3.1k cache hit, 1.3k received.` */
function usageOf(line: string): Usage {
  const count = (name: string): number | undefined => {
    const [, digits, unit] = new RegExp(`([\\d.,]{1,15})([kM]?) ${name}`).exec(line) ?? []
    if (digits === undefined) return undefined
    const value = Number(digits.replaceAll(',', '')) * (unit === 'k' ? 1000 : unit === 'M' ? 1_000_000 : 1)
    return Number.isFinite(value) ? Math.round(value) : undefined
  }
  const sent = count('sent')
  const cacheRead = count('cache hit')
  const cacheWrite5m = count('cache write')
  const output = count('received')
  const cached = (cacheRead ?? 0) + (cacheWrite5m ?? 0)
  return {
    ...(sent !== undefined && { input: sent >= cached ? sent - cached : sent }),
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite5m !== undefined && { cacheWrite5m }),
    ...(output !== undefined && { output }),
    quality: 'estimated',
    raw: line,
  }
}
