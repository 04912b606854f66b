/** Every format's own recordings as bytes: the samples, and those that are no JSON. What proves something of all readers runs over these. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SAMPLES, type Sample } from './kept-samples.ts'
import { WIRE_SAMPLES } from './trace-samples.ts'

export type Recording = {
  readonly format: string
  readonly title: string
  readonly path: string
  readonly text: string
}

const textOf = ({ records, isLines }: Sample): string =>
  isLines
    ? (records as readonly unknown[]).map((record) => `${JSON.stringify(record)}\n`).join('')
    : JSON.stringify(records)

const time = '2026-06-01T09:00:00.000Z'

const TEXTS: readonly Recording[] = [
  {
    format: 'devflow',
    title: 'a run',
    path: 'transcript.json',
    text: JSON.stringify({
      runId: 'run-1',
      metadata: { startedAt: time },
      turns: [
        { role: 'user', content: 'look', timestamp: time },
        {
          role: 'assistant',
          content: 'I look.',
          toolCalls: [{ id: 'c', name: 'ls', input: {} }],
          timestamp: time,
        },
      ],
    }),
  },
  {
    format: 'weakincentives',
    title: 'a slice',
    path: 'TranscriptEntry.jsonl',
    text: `${JSON.stringify({
      __type__: 'weakincentives.transcript:TranscriptEntry',
      source: 'primary',
      sequence: 0,
      entry_type: 'user_message',
      created_at: time,
      detail: { text: 'look' },
    })}\n`,
  },
  {
    format: 'leslie',
    title: 'a unit',
    path: 'thread/.meta/transcripts/1.txt',
    text: 'user:\n<user_query>\nlook\n</user_query>\n\nassistant:\nI look.\n\n[Tool call] ls\n  path: a\n',
  },
  {
    format: 'swarm',
    title: 'a step',
    path: 'run-1/build/llm/s1-coder-claude.jsonl',
    text: `${JSON.stringify({ timestamp: time, role: 'user', content: 'look' })}\n${JSON.stringify({ timestamp: time, role: 'assistant', content: 'I look.' })}\n`,
  },
  { format: 'raw', title: 'some text', path: 'x.txt', text: 'some words\n{"a": 1}\n' },
]

/** `test/fixtures/<format>/<file>`: what a new format begins with. */
const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), 'fixtures')
const fixtures = (): readonly Recording[] =>
  readdirSync(FIXTURES).flatMap((format) =>
    readdirSync(join(FIXTURES, format)).map((path) => ({
      format,
      title: path,
      path,
      text: readFileSync(join(FIXTURES, format, path), 'utf8'),
    })),
  )

export const RECORDINGS: readonly Recording[] = [
  ...[...SAMPLES, ...WIRE_SAMPLES].map((sample) => ({ ...sample, text: textOf(sample) })),
  ...TEXTS,
  ...fixtures(),
]
