/**
 * What is exported holds every entry: an example of each seed, written as its program would leave it and read back, in Markdown, HTML,
 * text, JSON and as an asciicast. Each entry says a word of its own, which must be found.
 */
import { describe, expect, it } from 'vitest'
import { devflow } from '../src/formats/devflow.ts'
import { entire } from '../src/formats/entire.ts'
import { leslie } from '../src/formats/leslie.ts'
import { swarm } from '../src/formats/swarm.ts'
import { weakincentives } from '../src/formats/weakincentives.ts'
import { exportSession } from '../src/server/export.ts'
import { textOf, outputText, type Block } from '../src/transcript/block.ts'
import type { Entry, Role } from '../src/transcript/entry.ts'
import { toJson } from '../src/transcript/json.ts'
import type { Session } from '../src/transcript/session.ts'
import { memorySource, readAll, writeTranscript } from './memory-files.ts'

const FORMATS = [devflow, weakincentives, leslie, entire, swarm] as const
const EXPORTS = ['md', 'html', 'text', 'json', 'asciicast'] as const

const SAID: readonly (readonly [Role, Block])[] = [
  ['system', { type: 'text', text: 'Be brief. wordsystem' }],
  ['user', { type: 'text', text: 'Why does # it <fail>? wordprompt' }],
  ['assistant', { type: 'thinking', text: 'Perhaps wordthinking' }],
  ['assistant', { type: 'tool-call', callId: 'c1', name: 'Read', input: { file_path: 'wordinput.ts' } }],
  ['tool', { type: 'tool-result', callId: 'c1', name: 'Read', output: 'line one\n```\nwordoutput' }],
  ['assistant', { type: 'tool-call', callId: 'c2', name: 'Bash', input: { command: 'wordcommand' } }],
  ['tool', { type: 'tool-result', callId: 'c2', name: 'Bash', error: 'worderror', isError: true }],
  ['assistant', { type: 'text', text: 'It is a typo: `wordanswer`.' }],
  ['user', { type: 'text', text: 'Thanks. wordlast' }],
]

const SESSION: Session = {
  id: '01a1e079-482d-7de6-9b7c-aa3e579e7253',
  agent: 'mine',
  run: {
    id: 'run-20260102-030405-abc123',
    flow: 'build',
    step: 'impl',
    agentKey: 'coder',
    engine: 'claude-step',
  },
  startedAt: '2026-01-02T03:04:05.000Z',
  endedAt: '2026-01-02T03:05:05.000Z',
  status: 'completed',
}
const ENTRIES: readonly Entry[] = SAID.map(([role, block], sequence) => ({
  id: `00000000-0000-4000-8000-00000000000${sequence}`,
  source: 'primary',
  sequence,
  kind: 'message',
  role,
  at: new Date(Date.UTC(2026, 0, 2, 3, 4, 5) + sequence * 1000).toISOString(),
  blocks: [block],
}))

/** The words that a format has kept. */
function wordsIn(entries: readonly Entry[]): readonly string[] {
  const said = entries.flatMap(({ blocks }) => [
    textOf(blocks),
    ...blocks.map((block) =>
      block.type === 'tool-result' ? `${outputText(block)} ${block.error ?? ''}` : toJson(block),
    ),
  ])
  return [...new Set(said.join(' ').match(/word[a-z]+/g))].sort()
}

describe.each(FORMATS)('an example of $id', (format) => {
  it.each(EXPORTS)('is whole as %s', async (as) => {
    const [back] = await readAll(
      format,
      memorySource(writeTranscript(format, { session: SESSION, entries: ENTRIES }).files),
    )
    const { session = SESSION, entries = [] } = back ?? {}
    const words = wordsIn(entries)
    // A format may have no place for some; what is read must be found.
    expect(words.length).toBeGreaterThanOrEqual(6)
    const items = (async function* () {
      yield [
        { type: 'session', session } as const,
        ...entries.map((entry) => ({ type: 'entry', entry }) as const),
      ]
    })()
    let text = ''
    for await (const part of exportSession(as, { session, items, timeZone: 'UTC' })) text += part
    expect(words.filter((word) => !text.includes(word))).toEqual([])
  })
})
