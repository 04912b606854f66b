import { describe, expect, it } from 'vitest'
import { first, toLines } from '../../test/journal-samples.ts'
import { memorySource, readAll } from '../../test/memory-files.ts'
import type { Entry } from '../transcript/entry.ts'
import type { JsonObject } from '../transcript/json.ts'
import type { Transcript } from '../transcript/transcript.ts'
import { journal } from './format.ts'
import type { JournalRecord } from './record.ts'
import { UNFINISHED, unfinishedLine } from './unanswered.ts'
import { bootId, createWriterId } from './writer-id.ts'

const DEAD = { writer: '1-1-w', boot: 'another boot' }
const ALIVE = { writer: createWriterId(), boot: bootId() }

const begun = (who: object = DEAD): JournalRecord => ({
  t: 'session',
  ...first,
  ...DEAD,
  at: '2026-01-01T00:00:00.000Z',
  ...who,
})
const said = (sequence: number, metadata: JsonObject, fields: Partial<Entry> = {}): JournalRecord => ({
  t: 'entry',
  entry: {
    id: `${fields.source ?? 'primary'}/${sequence}`,
    source: 'primary',
    sequence,
    kind: 'message',
    blocks: [{ type: 'text', text: `entry ${sequence}` }],
    metadata,
    ...fields,
  },
})
const started = (sequence: number, call: string, source = 'primary'): JournalRecord =>
  said(
    sequence,
    { record: 'call-started' },
    { source, kind: 'event', blocks: [{ type: 'unknown', raw: { call, api: 'openai-chat' } }] },
  )
const partial = (call: string, text: string): string =>
  unfinishedLine(call, {
    id: 'whatever',
    source: 'primary',
    sequence: 0,
    kind: 'message',
    role: 'assistant',
    at: '2026-01-01T00:00:09.000Z',
    blocks: [{ type: 'text', text }],
    usage: { quality: 'partial', input: 7 },
    metadata: { call },
  })

async function read(records: readonly JournalRecord[], beside = ''): Promise<Transcript> {
  const files = new Map([
    ['sessions/s-1/journal-w.jsonl', Buffer.concat(toLines(records))],
    [`sessions/s-1/${UNFINISHED}`, Buffer.from(beside)],
  ])
  const [only] = await readAll(journal, memorySource(files))
  if (only === undefined) throw new Error('no session')
  return only
}

const shown = ({ entries }: Transcript): unknown[] =>
  entries.flatMap(({ source, sequence, blocks }) =>
    blocks.map((block) => {
      const what = block.type === 'error' ? block.code : block.type === 'text' ? block.text : block.type
      return `${source}/${sequence} ${what as string}`
    }),
  )

describe('a session whose recorder died', () => {
  it('says of each call without an answer that it was interrupted, with what had come of it', async () => {
    const found = await read(
      [begun(), started(0, 'a'), said(1, { call: 'a' }), started(2, 'b'), started(0, 'c', 'subagent:x')],
      partial('b', 'half an ') + partial('a', 'never shown'),
    )
    expect(found.session.status).toBe('interrupted')
    expect(shown(found)).toEqual([
      'primary/0 unknown',
      'primary/1 entry 1',
      'primary/2 unknown',
      'subagent:x/0 unknown',
      'primary/3 half an ',
      'primary/4 interrupted',
      'subagent:x/1 interrupted',
    ])
    expect(found.entries[4]).toMatchObject({
      role: 'assistant',
      parent: 'primary/2',
      usage: { quality: 'partial', input: 7 },
    })
    expect(new Set(found.entries.map(({ id }) => id)).size).toBe(found.entries.length)
  })

  it('says the same when it has been given its last line', async () => {
    const end: JournalRecord = {
      t: 'end',
      session: { status: 'interrupted' },
      counts: { entries: 3, lines: 3 },
      at: '2026-01-02T00:00:00.000Z',
    }
    const found = await read([begun(), started(0, 'a'), end], partial('a', 'some '))
    expect(shown(found)).toEqual(['primary/0 unknown', 'primary/1 some ', 'primary/2 interrupted'])
  })

  it('says nothing of calls that may still be answered, and of those of a session that came to its end', async () => {
    expect(shown(await read([begun(ALIVE), started(0, 'a')], partial('a', 'some ')))).toHaveLength(1)
    const end: JournalRecord = {
      t: 'end',
      session: { status: 'completed' },
      counts: { entries: 1, lines: 3 },
      at: '2026-01-02T00:00:00.000Z',
    }
    expect(shown(await read([begun(), started(0, 'a'), end]))).toHaveLength(1)
  })

  it('passes over what is no line of an answer', async () => {
    const hostile = [
      'no JSON',
      'null',
      '[]',
      '{"v":1,"call":"a"}',
      '{"v":1,"call":"a","entry":{"blocks":"x"}}',
      '{"v":1,"call":"b","entry":{"blocks":[null,{"type":"text","text":4}],"role":"system","kind":"event","__proto__":{"x":1}}}',
      partial('a', 'right ').slice(0, -20),
    ]
    const found = await read([begun(), started(0, 'a'), started(1, 'b')], hostile.join('\n'))
    expect(shown(found)).toEqual([
      'primary/0 unknown',
      'primary/1 unknown',
      'primary/2 interrupted',
      'primary/3 unknown',
      'primary/3 unknown',
      'primary/4 interrupted',
    ])
    expect(found.entries[3]).toMatchObject({ role: 'assistant', kind: 'message' })
  })
})
