import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readAll, memoryFileSource } from '../../../test/memory-files.ts'
import {
  FILE_NAME,
  SLICE_NAME,
  sliceFileName,
  type TranscriptEntry,
} from '../../formats/weakincentives-entry.ts'
import { weakincentives } from '../../formats/weakincentives.ts'
import { isHansardError } from '../../errors.ts'
import { nodeFiles, type Files } from '../../journal/files.ts'
import type { Damage } from '../../transcript/damage.ts'
import type { Json } from '../../transcript/json.ts'
import { captureTranscript } from './capture-transcript.ts'
import { TranscriptEntrySlice, entriesOfEvent, type ToolInvoked } from './events.ts'
import { jsonlSliceFactory } from './jsonl.ts'
import { memorySliceFactory } from './memory.ts'
import { appendAll, replaceLatest, replaceLatestBy, upsertBy } from './reducers.ts'
import type { SliceType } from './slice.ts'
import { createSliceSession } from './slice-session.ts'

type Plan = { readonly plan: string; readonly steps: number }
const Plans: SliceType<Plan> = {
  name: 'test.Plan',
  is: (value): value is Plan => typeof value === 'object' && value !== null && 'plan' in value,
}
const plan = (name: string, steps = 0): Plan => ({ plan: name, steps })

const entry = (sequence: number, facts: Partial<TranscriptEntry> = {}): TranscriptEntry => ({
  role: 'user',
  content: `entry ${sequence}`,
  created_at: '2026-01-05T09:15:32+00:00',
  tool_name: null,
  tool_call_id: null,
  tool_input: null,
  metadata: null,
  entry_id: `00000000-0000-4000-8000-00000000000${sequence}`,
  source: 'primary',
  sequence,
  ...facts,
})

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(os.tmpdir(), 'slices-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

const factories = {
  memory: () => memorySliceFactory(),
  JSONL: () => jsonlSliceFactory({ baseDir: folder }),
}

describe.each(Object.entries(factories))('a slice in %s', (_, create) => {
  const session = () => createSliceSession({ sliceConfig: { stateFactory: create(), logFactory: create() } })

  it('answers all, latest and where', () => {
    const slice = session().slice(TranscriptEntrySlice)
    expect([slice.all(), slice.latest(), slice.view().isEmpty(), slice.view().length()]).toEqual([
      [],
      undefined,
      true,
      0,
    ])
    slice.extend([entry(0), entry(1, { role: 'assistant' })])
    slice.append(entry(2, { source: 'subagent:a' }))
    expect(slice.all()).toEqual([
      entry(0),
      entry(1, { role: 'assistant' }),
      entry(2, { source: 'subagent:a' }),
    ])
    expect(slice.latest()?.sequence).toBe(2)
    expect(slice.where(({ role }) => role === 'assistant').map(({ sequence }) => sequence)).toEqual([1])
    expect(slice.where(({ source }) => source === 'primary')).toHaveLength(2)
    expect([slice.view().isEmpty(), slice.view().length()]).toEqual([false, 3])
  })

  it('of policy STATE is replaced, cleared and cleared in part', () => {
    const slice = session().slice(Plans)
    slice.seed([plan('a'), plan('b')])
    slice.clear(({ plan }) => plan === 'a')
    expect(slice.all()).toEqual([plan('b')])
    slice.replace([plan('c')])
    expect(slice.all()).toEqual([plan('c')])
    slice.clear()
    expect(slice.all()).toEqual([])
    slice.clear()
  })

  it('of policy LOG is never modified or cleared, by call or by reducer', () => {
    const one = session()
    const slice = one.slice(TranscriptEntrySlice)
    slice.seed([entry(0)])
    const forbidden = [
      () => slice.clear(),
      () => slice.clear(() => true),
      () => slice.replace([]),
      () => slice.seed([entry(1)]),
      () => one.setPolicy(TranscriptEntrySlice, 'STATE'),
    ]
    for (const act of forbidden) expect(act).toThrow(expect.objectContaining({ code: 'append-only' }))
    slice.register(TranscriptEntrySlice, replaceLatest())
    const result = one.dispatch(entry(1))
    expect(result).toMatchObject({ ok: false, handlersInvoked: 1 })
    expect(isHansardError(result.errors[0])).toBe(true)
    expect(slice.all()).toEqual([entry(0)])
  })

  it('of transcript entries holds copies that nobody can change, captured or not', () => {
    const one = session()
    one.setPolicy(TranscriptEntrySlice, 'LOG')
    const slice = one.slice(TranscriptEntrySlice)
    const input = { path: 'a', deep: { list: [1] } }
    const given = entry(0, { role: 'assistant', tool_name: 'Read', tool_input: input })
    one.dispatch(given)
    Object.assign(given, { content: 'changed' })
    input.deep.list.push(2)
    for (const held of [slice.all()[0], slice.latest(), ...slice.view().iterate()]) {
      expect(held).toMatchObject({ content: 'entry 0', tool_input: { path: 'a', deep: { list: [1] } } })
      expect(() => Object.assign(held as object, { content: 'changed' })).toThrow(TypeError)
      expect(() => Object.assign(held?.tool_input?.['deep'] as object, { list: [] })).toThrow(TypeError)
    }
  })

  it('takes nothing that is no item of it', () => {
    const one = session()
    const slice = one.slice(TranscriptEntrySlice)
    const robot = { ...entry(0), role: 'robot' } as unknown as TranscriptEntry
    for (const act of [
      () => slice.append(robot),
      () => slice.extend([entry(0), robot]),
      () => slice.seed([robot]),
    ])
      expect(act).toThrow(expect.objectContaining({ code: 'invalid-argument' }))
    expect(slice.all()).toEqual([])
  })

  it('answers an entry of a role that there is not with an error, captured or not', () => {
    const robot = { ...entry(0), role: 'robot' }
    for (const isCaptured of [false, true]) {
      const one = session()
      one.slice(TranscriptEntrySlice)
      if (isCaptured) captureTranscript(one)
      const { ok, errors } = one.dispatch(robot)
      expect([ok, errors]).toEqual([
        false,
        [expect.objectContaining({ code: 'invalid-argument', message: 'no such role: "robot"' })],
      ])
      expect(one.slice(TranscriptEntrySlice).all()).toEqual([])
    }
  })

  it.each([
    ['with its default', () => {}, [0, 0]],
    ['with its default, numbered where they are captured', captureTranscript, [0, 1]],
  ])('has every field of an entry that leaves some out, %s', (_name, prepare, numbers) => {
    const one = session()
    const slice = one.slice(TranscriptEntrySlice)
    prepare(one)
    const bare = { role: 'user', content: 'hi', created_at: '2026-01-05T09:15:32+00:00' }
    expect([one.dispatch(bare), one.dispatch({ ...bare, source: undefined })]).toMatchObject([
      { ok: true },
      { ok: true },
    ])
    const ids = slice.all().map(({ entry_id }) => entry_id)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids)
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    const whole = numbers.map((sequence, place) => ({
      ...entry(0),
      content: 'hi',
      sequence,
      entry_id: ids[place],
    }))
    expect(slice.all().map((held) => JSON.stringify(held))).toEqual(whole.map((held) => JSON.stringify(held)))
  })

  it.each([
    ['appendAll', appendAll<Plan>(), [plan('a', 1), plan('b', 1), plan('a', 2)]],
    ['replaceLatest', replaceLatest<Plan>(), [plan('a', 2)]],
    ['upsertBy', upsertBy<Plan>((item) => item.plan), [plan('a', 2), plan('b', 1)]],
    ['replaceLatestBy', replaceLatestBy<Plan>((item) => item.plan), [plan('b', 1), plan('a', 2)]],
  ])('under %s', (_name, reducer, items) => {
    const one = session()
    one.slice(Plans).register(Plans, reducer)
    for (const event of [plan('a', 1), plan('b', 1), plan('a', 2)]) expect(one.dispatch(event).ok).toBe(true)
    expect(one.slice(Plans).all()).toEqual(items)
  })

  it('made a LOG late moves to the log factory, and loses nothing', () => {
    const logs = jsonlSliceFactory({ baseDir: join(folder, 'logs') })
    const one = createSliceSession({ sliceConfig: { stateFactory: create(), logFactory: logs } })
    one.slice(Plans).append(plan('early'))
    one.slice(Plans).register(Plans, appendAll(), { policy: 'LOG' })
    one.dispatch(plan('late'))
    expect(one.slice(Plans).all()).toEqual([plan('early'), plan('late')])
    expect(
      fs
        .readFileSync(join(folder, 'logs', 'test.Plan.jsonl'), 'utf8')
        .trim()
        .split('\n'),
    ).toHaveLength(2)
    expect(one.slice(Plans).policy()).toBe('LOG')
  })

  it('made a LOG in the same place stays where it is', () => {
    const one = session()
    one.slice(Plans).append(plan('early'))
    one.setPolicy(Plans, 'LOG')
    expect(one.slice(Plans).all()).toEqual([plan('early')])
  })
})

describe('dispatch', () => {
  it('appends to slices nobody registered anything for, and to no others', () => {
    const session = createSliceSession()
    session.slice(TranscriptEntrySlice)
    session.slice(Plans)
    expect(session.dispatch(entry(0))).toEqual({ event: entry(0), handlersInvoked: 1, errors: [], ok: true })
    expect(session.dispatch({ other: 1 }).handlersInvoked).toBe(0)
    expect(session.slice(TranscriptEntrySlice).policy()).toBe('LOG')
    expect(session.slice(Plans).all()).toEqual([])
  })

  it('runs the other reducers when one fails, and says so', () => {
    const session = createSliceSession()
    session.slice(Plans).register(Plans, () => {
      throw new Error('no')
    })
    session.slice(Plans).register(Plans, appendAll())
    expect(session.dispatch(plan('a'))).toMatchObject({ handlersInvoked: 2, ok: false })
    expect(session.slice(Plans).all()).toEqual([plan('a')])
  })

  it('says when the disk is full, and leaves no half line', () => {
    let full = false
    const files: Files = {
      ...nodeFiles,
      write(fd, bytes, from, length) {
        if (!full) return nodeFiles.write(fd, bytes, from, length)
        if (from > 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
        return nodeFiles.write(fd, bytes, from, 7)
      },
    }
    const logs = jsonlSliceFactory({ baseDir: folder, files })
    const session = createSliceSession({ sliceConfig: { stateFactory: logs, logFactory: logs } })
    const slice = session.slice(TranscriptEntrySlice)
    session.dispatch(entry(0))
    full = true
    expect(session.dispatch(entry(1)).errors).toEqual([expect.objectContaining({ code: 'disk-full' })])
    full = false
    session.dispatch(entry(2))
    expect(slice.all().map(({ sequence }) => sequence)).toEqual([0, 2])
    expect(slice.view().length()).toBe(2)
  })
})

describe('snapshots', () => {
  it('roll STATE back and leave logs alone', () => {
    const session = createSliceSession({ now: () => 0 })
    session.slice(Plans).append(plan('a'))
    session.slice(TranscriptEntrySlice).append(entry(0))
    const snapshot = session.snapshot()
    expect(snapshot).toEqual({
      version: '1',
      createdAt: '1970-01-01T00:00:00.000Z',
      slices: [{ sliceType: 'test.Plan', items: [plan('a')] }],
      policies: { 'test.Plan': 'STATE' },
    })
    session.slice(Plans).append(plan('b'))
    session.slice(TranscriptEntrySlice).append(entry(1))
    session.restore(snapshot)
    expect(session.slice(Plans).all()).toEqual([plan('a')])
    expect(session.slice(TranscriptEntrySlice).all()).toHaveLength(2)
    expect(session.snapshot({ includeAll: true }).slices).toHaveLength(2)
  })

  it('of slices that nobody registered are refused', () => {
    const session = createSliceSession()
    session.slice(Plans)
    expect(() => createSliceSession().restore(session.snapshot())).toThrow(/nobody registered: test.Plan/)
  })
})

describe('the file of a slice', () => {
  it('is named as the seed names it, but on Windows, which allows no colon', () => {
    expect(sliceFileName(SLICE_NAME, 'linux')).toBe('weakincentives.transcript:TranscriptEntry.jsonl')
    expect(sliceFileName(SLICE_NAME, 'win32')).toBe('weakincentives.transcript_TranscriptEntry.jsonl')
  })
})

describe('a JSONL slice', () => {
  const name = FILE_NAME

  it('loses nothing but the line it died in, wherever that was, and goes on after it', () => {
    const file = join(folder, name)
    const lines = [entry(0), entry(1)].map((item) => `${JSON.stringify(item)}\n`).join('')
    const first = JSON.stringify(entry(0)).length
    for (let length = 0; length <= lines.length; length += 13) {
      fs.writeFileSync(file, lines.slice(0, length))
      const slice = createSliceSession({
        sliceConfig: {
          stateFactory: memorySliceFactory(),
          logFactory: jsonlSliceFactory({ baseDir: folder }),
        },
      }).slice(TranscriptEntrySlice)
      slice.append(entry(9))
      const whole = length < first ? [] : length < lines.length - 1 ? [0] : [0, 1]
      expect(slice.all().map(({ sequence }) => sequence)).toEqual([...whole, 9])
    }
  })

  it('reports each line it cannot read', () => {
    fs.writeFileSync(join(folder, name), `nonsense\n{"role":"user"}\n${JSON.stringify(entry(0))}\n{"ro`)
    const told: Damage[] = []
    const store = jsonlSliceFactory({ baseDir: folder, onDamage: (damage) => told.push(damage) }).create(
      TranscriptEntrySlice,
    )
    expect(store.all()).toEqual([entry(0)])
    expect(store.damage().map(({ kind, line }) => [kind, line])).toEqual([
      ['not-json', 1],
      ['not-an-entry', 2],
      ['torn', 4],
    ])
    expect(told).toEqual(store.damage())
  })

  it('does not follow a planted link', () => {
    fs.writeFileSync(join(folder, 'elsewhere'), '')
    fs.symlinkSync(join(folder, 'elsewhere'), join(folder, name))
    const store = jsonlSliceFactory({ baseDir: folder }).create(TranscriptEntrySlice)
    expect(() => store.append(entry(0))).toThrow(expect.objectContaining({ code: 'unsafe-path' }))
    expect(fs.readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('')
  })

  it('makes a folder of its own when given none, and refuses a name that climbs', () => {
    const factory = jsonlSliceFactory()
    expect(factory.directory).toContain('wink_slices_')
    fs.rmSync(factory.directory, { recursive: true })
    expect(() => factory.create({ ...TranscriptEntrySlice, name: '../x' })).toThrow(/not a safe slice name/)
  })
})

describe('capturing a transcript', () => {
  const happened = { prompt_name: 'review', adapter: 'openai', created_at: '2026-01-05T09:15:32Z' }
  const rendered = { ...happened, event_id: 'e1', rendered_prompt: 'You are…', user_message: 'Please review' }
  const invoked: ToolInvoked = {
    ...happened,
    event_id: 'e2',
    name: 'Read',
    params: { path: 'src/main.py' },
    result: { success: true, message: 'ok' },
    rendered_output: 'x'.repeat(5000),
    call_id: 't1',
    usage: { input_tokens: 1 },
  }
  const executed = { ...happened, event_id: 'e3', result: { text: 'Looks good' } }

  it('turns PromptRendered, ToolInvoked and PromptExecuted into entries of a log', async () => {
    const logs = jsonlSliceFactory({ baseDir: folder })
    const session = createSliceSession({
      sliceConfig: { stateFactory: memorySliceFactory(), logFactory: logs },
    })
    captureTranscript(session)
    for (const event of [rendered, invoked, executed])
      expect(session.dispatch(event)).toMatchObject({ ok: true, handlersInvoked: 1 })
    const entries = session.slice(TranscriptEntrySlice).all()
    expect(entries.map(({ role, tool_name, sequence }) => [role, tool_name, sequence])).toEqual([
      ['system', null, 0],
      ['user', null, 1],
      ['assistant', 'Read', 2],
      ['tool', 'Read', 3],
      ['assistant', null, 4],
    ])
    expect(entries[2]).toMatchObject({
      content: '{\n  "path": "src/main.py"\n}',
      tool_call_id: 't1',
      tool_input: { path: 'src/main.py' },
    })
    expect(entries[3]?.content).toHaveLength(5000)
    const file = fs.readFileSync(join(folder, FILE_NAME))
    const [read] = await readAll(weakincentives, memoryFileSource('x.jsonl', file))
    expect(read?.entries.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(read?.damage).toEqual([])
  })

  it('also takes entries that an adapter dispatches itself', () => {
    const session = createSliceSession()
    captureTranscript(session)
    session.dispatch(entry(0))
    expect(session.slice(TranscriptEntrySlice).latest()).toEqual(entry(0))
  })

  it('numbers each source upwards, also beside entries that an adapter dispatches itself', () => {
    const session = createSliceSession()
    captureTranscript(session)
    const own = (facts: Partial<TranscriptEntry>) => session.dispatch({ ...entry(0), ...facts })
    own({ content: 'first, not numbered' })
    session.dispatch(rendered)
    own({ content: 'not numbered' })
    own({ content: 'numbered ahead', sequence: 9 })
    own({ content: 'late', sequence: 7 })
    own({ source: 'subagent:a' })
    own({ source: 'subagent:a' })
    session.dispatch(executed)
    const all = session.slice(TranscriptEntrySlice).all()
    expect(all.map(({ source, sequence }) => `${source} ${sequence}`)).toEqual([
      'primary 0',
      'primary 1',
      'primary 2',
      'primary 3',
      'primary 9',
      'primary 7',
      'subagent:a 0',
      'subagent:a 1',
      'primary 10',
    ])
  })

  it('never has a secret in a slice, in no field of an event or of an entry', () => {
    const secret = ['sk', 'ant', 'oat01', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0'].join('-')
    const own = 'correct-horse-battery-staple'
    const logs = jsonlSliceFactory({ baseDir: folder })
    const session = createSliceSession({ sliceConfig: { stateFactory: logs, logFactory: logs } })
    captureTranscript(session, { secrets: [own] })
    session.dispatch({
      ...invoked,
      params: { command: `curl -u ${own}`, token: secret },
      rendered_output: own,
    })
    session.dispatch(entry(2, { content: `use ${secret}`, metadata: { note: own } }))
    const more = { tool_name: secret, source: `subagent:${secret}`, extra: own }
    session.dispatch(entry(3, more))
    const [name] = fs.readdirSync(folder)
    const bytes = fs.readFileSync(join(folder, name as string), 'utf8')
    expect(bytes).not.toContain(secret)
    expect(bytes).not.toContain(own)
    expect(bytes.match(/\[REDACTED:/g)?.length).toBeGreaterThan(4)
    expect(fs.statSync(join(folder, name as string)).mode & 0o777).toBe(0o600)
    expect(session.slice(TranscriptEntrySlice).all()).toMatchObject([
      { tool_call_id: 't1', tool_name: 'Read', sequence: 0 },
      { tool_call_id: 't1', tool_name: 'Read', sequence: 1 },
      { entry_id: entry(2).entry_id },
      { source: expect.stringMatching(/^subagent:REDACTED-anthropic-oauth-token-[0-9a-f]{8}$/) },
    ])
  })

  it('withholds what is too deep to be looked through, and keeps its place', () => {
    let deep: Json = 'x'
    for (let level = 0; level < 1000; level += 1) deep = { deep }
    const session = createSliceSession()
    captureTranscript(session)
    session.dispatch({ ...invoked, params: deep })
    expect(session.slice(TranscriptEntrySlice).all()).toMatchObject([
      { sequence: 0, tool_input: null, content: expect.stringContaining('withheld') },
      { sequence: 1, content: 'x'.repeat(5000) },
    ])
  })

  it('keeps everything as it is when asked to', () => {
    const session = createSliceSession()
    captureTranscript(session, { redact: false })
    session.dispatch(entry(0, { content: 'password=hunter2hunter2' }))
    expect(session.slice(TranscriptEntrySlice).latest()?.content).toBe('password=hunter2hunter2')
  })

  it.each([true, false])('keeps entries that nobody can change, redacted or not: %s', (redact) => {
    const session = createSliceSession()
    captureTranscript(session, { redact })
    const own = { ...entry(0) }
    session.dispatch(own)
    session.dispatch(executed)
    Object.assign(own, { content: 'changed' })
    for (const held of session.slice(TranscriptEntrySlice).all()) {
      expect(() => Object.assign(held, { content: 'changed' })).toThrow(TypeError)
      expect(held.content).not.toBe('changed')
    }
  })

  it('numbers entries of an event from where it is told, for any source', () => {
    const entries = entriesOfEvent(invoked, { source: 'subagent:abc123', sequence: 7 })
    expect(entries.map(({ source, sequence }) => [source, sequence])).toEqual([
      ['subagent:abc123', 7],
      ['subagent:abc123', 8],
    ])
    expect(new Set(entries.map(({ entry_id }) => entry_id)).size).toBe(2)
    for (const { entry_id } of entries)
      expect(entry_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab]/)
  })
})
