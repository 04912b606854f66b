import { expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { memoryFileSource } from '../../test/memory-files.ts'
import { copilotCli } from '../formats/copilot-cli.ts'
import { cursor } from '../formats/cursor.ts'
import type { Format } from '../formats/format.ts'
import { geminiCli } from '../formats/gemini-cli.ts'
import { generic } from '../formats/generic.ts'
import { grok } from '../formats/grok.ts'
import { langsmith } from '../formats/langsmith.ts'
import { opencode } from '../formats/opencode.ts'
import { otel } from '../formats/otel.ts'
import { pi } from '../formats/pi.ts'
import { swarm } from '../formats/swarm.ts'
import type { SourceFile } from '../transcript/source.ts'
import { createUnitReading } from './unit-facts.ts'
import { readSnapshot } from './versions.ts'

const MB = 1024 * 1024

/** 3 MB of JSON each, and twice as much as a text. */
const MESSAGES = 3
const SAID = JSON.stringify(`${'all that was said before '.repeat((3 * MB) / 25)}😀`)

const listOf = (toElement: (n: number) => string, begin = '[', end = ']'): string =>
  begin + Array.from({ length: MESSAGES }, (_, n) => toElement(n)).join(',\n') + end

const sent = (n: number): string =>
  `{"role":"${n % 2 === 0 ? 'user' : 'assistant'}","content":[{"type":"text","text":${SAID}}],"ts":${n}}`
const message = (n: number): string =>
  `{"info":{"id":"msg_${n}","sessionID":"ses_1","role":"user"},"parts":[{"id":"prt_${n}","type":"text","text":${SAID}}]}`

const at = (n: number): string => `2026-02-02T00:00:0${n}.000Z`
const chat = (n: number): string =>
  `{"id":"m${n}","timestamp":"${at(n)}","type":"${n % 2 === 0 ? 'user' : 'gemini'}","content":${SAID}}`
const piLine = (n: number): string =>
  `{"type":"message","id":"m${n}","timestamp":"${at(n)}","message":{"role":"user","content":[{"type":"text","text":${SAID}}]}}`
const copilotLine = (n: number): string =>
  `{"type":"user.message","id":"m${n}","timestamp":"${at(n)}","data":{"content":${SAID}}}`
const cursorLine = (n: number): string =>
  `{"role":"${n % 2 === 0 ? 'user' : 'assistant'}","message":{"content":[{"type":"text","text":${SAID}}]}}`
const event = (n: number): string =>
  `{"run_id":"r","ts":"${at(n)}","kind":"log","event_id":"e${n}","text":${SAID}}`
const grokLine = (n: number): string => `{"type":"user","content":[{"type":"text","text":${SAID}}],"n":${n}}`
const span = (n: number): string =>
  `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${'a'.repeat(32)}","spanId":"000000000000000${n}","name":"x","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":${SAID}}}]}]}]}]}`
const run = (n: number): string =>
  `{"id":"r${n}","trace_id":"t","dotted_order":"${n}","run_type":"llm","name":"x","inputs":{"text":${SAID}}}`

const linesOf = (toLine: (n: number) => string, first?: string): string =>
  [
    ...(first === undefined ? [] : [first]),
    ...Array.from({ length: MESSAGES }, (_, n) => toLine(n)),
    '',
  ].join('\n')

const HEADER = '{"sessionId":"5f1b0c1e","projectHash":"p","startTime":"2026-02-02T00:00:00.000Z"}'
const EXPORT = '{"info":{"id":"ses_1"},"messages":['
const CUT = ',{"id":"x'

/** In MB: the most that is held in V8's heap while more of the file is asked for. */
async function mostHeld(format: Format, name: string, content: string) {
  const held = (): number => heldBytes() / MB
  const source = memoryFileSource(name, content, { chunkBytes: 2 * MB })
  const before = held()
  let most = 0
  const measured = (file: SourceFile): SourceFile => ({
    ...file,
    // More than is held by those who put a small file's records into their order.
    sizeBytes: 32 * MB,
    async *chunks(options) {
      for await (const chunk of file.chunks(options)) {
        // What is compiled meanwhile, in a thread of its own, may hold some of it for a moment.
        await new Promise((done) => setImmediate(done))
        most = Math.max(most, held() - before)
        yield chunk
      }
    },
  })
  const open = async () => ({
    ...source,
    list: async () => (await source.list()).map(measured),
    damage: () => [],
  })
  const reading = createUnitReading(() => {}, 'unit')
  for await (const items of readSnapshot({ versions: new Map(), open }, [name], format, {}))
    reading.add(items)
  const { sessions } = reading.end()
  return { most, entries: sessions.reduce((all, { entries }) => all + entries, 0) }
}

it.each([
  ['of a list', generic, 'a.json', () => listOf(sent)],
  ['of a list that is cut off', generic, 'a.json', () => listOf(sent, '[', CUT)],
  ["of OpenCode's export", opencode, 'export.json', () => listOf(message, EXPORT, ']}')],
  ["of OpenCode's export, cut off", opencode, 'export.json', () => listOf(message, EXPORT, CUT)],
  [
    "of Gemini CLI's",
    geminiCli,
    'session-1.json',
    () => listOf(chat, `${HEADER.slice(0, -1)},"messages":[`, ']}'),
  ],
  ["of Gemini CLI's log", geminiCli, 'session-1.jsonl', () => linesOf(chat, HEADER)],
  ["of pi's log", pi, 'a.jsonl', () => linesOf(piLine)],
  ["of Copilot CLI's log", copilotCli, 'events.jsonl', () => linesOf(copilotLine)],
  ["of Cursor's log", cursor, 'a.jsonl', () => linesOf(cursorLine)],
  ["of a run's events", swarm, 'events.jsonl', () => linesOf(event)],
  ["of Grok's log", grok, 'chat_history.jsonl', () => linesOf(grokLine)],
  ["of OpenTelemetry's lines", otel, 'a.jsonl', () => linesOf(span)],
  ["of LangSmith's lines", langsmith, 'a.jsonl', () => linesOf(run)],
  ['of lines that nobody knows', generic, 'a.jsonl', () => linesOf(sent)],
] as const)('long messages %s are let go of before the next is read', async (_, format, name, contentOf) => {
  const { most, entries } = await mostHeld(format, name, contentOf())
  expect(entries).toBeGreaterThanOrEqual(MESSAGES)
  // One message would be 6 MB.
  expect(most).toBeLessThan(4)
})
