/**
 * Which side each format's counters are on. The samples say, each in its own way, that 30 tokens were read, 10 of them from a cache, and 6
 * written: whoever counts them inside or beside each other, what is read is told apart, billed once, and never made up.
 */
import { expect, it } from 'vitest'
import { formats } from '../src/formats/index.ts'
import { createCallFold } from '../src/transcript/totals.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import type { Usage } from '../src/transcript/usage.ts'
import { memoryFileSource, readAll } from './memory-files.ts'
import { RECORDINGS } from './recordings.ts'

const APART = { input: 20, cacheRead: 10, output: 6 }
const WHOLE = { input: 30, output: 6 }
const NONE = undefined

/** What is billed by calls, and what the session states of itself where nothing is. */
const COUNTS: ReadonlyMap<string, Partial<Usage> | undefined> = new Map<string, Partial<Usage> | undefined>([
  // Thoughts stand beside the output, and are in it here.
  ['qwen, a log', { ...APART, output: 9, reasoning: 3 }],
  ['kimi, a log', { ...APART, cacheWrite5m: 5 }],
  ['iflow, a log', NONE],
  ['grok, a log', NONE],
  ['dsh, a log', { ...APART, reasoning: 2 }],
  ['openclaw-telemetry, a log', { ...APART, cacheWrite5m: 5 }],
  ['anthropic-managed-agents, a log', APART],
  ['codex-tui-log, a log', { ...APART, reasoning: 2 }],
  // What the messages did not say comes with the result.
  ['claude-stream-json, a log', { ...APART, quality: 'estimated' }],
  ['gemini-stream-json, a log', APART],
  ['openai-chat, a batch', APART],
  ['openai-responses, a document', { ...APART, reasoning: 2 }],
  ['vercel-ui-messages, a document', { ...APART, reasoning: 2 }],
  ['otel, a document', WHOLE],
  ['chatgpt-export, a document', NONE],
  ['claude-export, a document', NONE],
  ['droid, a log', NONE],
  ['droid, what it prints', APART],
  ['antigravity, a log', NONE],
  ['hermes, a document', NONE],
  ['amp, a document', { ...APART, cacheWrite5m: 5 }],
  ['continue, a document', APART],
  ['goose, a log', { ...WHOLE, quality: 'estimated' }],
  // The parent's sum and the model's run say the same.
  ['langsmith, a log', APART],
  ['inspect, a document', APART],
  ['swe-agent, a document', { ...WHOLE, quality: 'estimated' }],
  ['mini-swe-agent, a document', WHOLE],
  ['atif, a document', APART],
  ['atof, a log', WHOLE],
  ['openhands, a result', WHOLE],
  ["openhands, the SDK's events", APART],
])

it.each([...COUNTS])('%s', async (name, counts) => {
  const recording = RECORDINGS.find(({ format, title }) => `${format}, ${title}` === name)
  const format = formats.find(({ id }) => id === recording?.format)
  if (recording === undefined || format === undefined) throw new Error(`no recording ${name}`)
  const told = await readAll(format, memoryFileSource(recording.path, recording.text))
  const used = billed(told) ?? told.find(({ session }) => session.reportedUsage)?.session.reportedUsage
  if (counts === undefined) expect(used).toBeUndefined()
  else expect(used).toMatchObject({ quality: 'reported', ...counts })
})

function billed(transcripts: readonly Transcript[]): Usage | undefined {
  const fold = createCallFold()
  for (const { entries } of transcripts) for (const entry of entries) fold.add(entry)
  return fold.totals().usage
}
