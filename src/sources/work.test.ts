import { describe, expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { asBlock, type Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import { createWorkFold, type SessionWork, type WorkFold } from './work.ts'

type Script = { readonly work: WorkFold; say(blocks: readonly Block[], more?: Partial<Entry>): void }

/** Entries one second apart. */
function createScript(): Script {
  const work = createWorkFold()
  const next = new Map<string, number>()
  let seconds = 0
  return {
    work,
    say(blocks, more = {}) {
      const source = more.source ?? 'primary'
      const sequence = next.get(source) ?? 0
      next.set(source, sequence + 1)
      const at = new Date(1_760_000_000_000 + seconds * 1000).toISOString()
      seconds += 1
      work.add({ id: `${source}/${sequence}`, source, sequence, kind: 'message', at, blocks, ...more })
    },
  }
}

type Called = {
  readonly input?: Json
  readonly isError?: boolean
  readonly source?: string
  readonly call?: string
}

let ids = 0
/** A call and, a second later, its result: two entries. */
function call(script: Script, name: string, { input = {}, isError, source, call: key }: Called = {}): void {
  const callId = `call_${(ids += 1)}`
  const more = { ...(source !== undefined && { source }) }
  script.say([{ type: 'tool-call', callId, name, input }], {
    ...more,
    role: 'assistant',
    ...(key !== undefined && { call: { messageId: key } }),
  })
  script.say([{ type: 'tool-result', callId, output: 'x', ...(isError && { isError }) }], {
    ...more,
    role: 'tool',
  })
}

const found = (work: SessionWork) =>
  work.findings.map(({ kind, tool, count, marks, file }) => ({
    kind,
    tool,
    count,
    at: marks.map(({ sequence }) => sequence),
    ...(file !== undefined && { file }),
  }))

describe('what a session did', () => {
  it('is its tools, how often each was called and failed, and how long it took', () => {
    const script = createScript()
    call(script, 'Bash', { input: { command: 'ls' } })
    call(script, 'Bash', { input: { command: 'pwd' }, isError: true })
    call(script, 'Read', { input: { file_path: '/a' } })
    const { rest, failed, errors, tools, parts } = script.work.end()
    expect({ ...rest }).toEqual({ Bash: [2, 1, 2000, 2, 0, 0], Read: [1, 0, 1000, 1, 0, 0] })
    expect({ failed, errors, tools, parts }).toEqual({
      failed: 1,
      errors: 1,
      tools: ['Bash', 'Read'],
      parts: ['tool', 'error'],
    })
  })

  it('is given out with the provider call that it is of, once', () => {
    const script = createScript()
    call(script, 'Bash', { input: 1, call: 'msg_1' })
    call(script, 'Read', { input: 2, call: 'msg_1', isError: true })
    call(script, 'Bash', { input: 3, call: 'msg_2' })
    expect(script.work.take('m:msg_1', ['Bash', 'Read'])).toEqual([
      [1, 0, 1000, 1, 0, 0],
      [1, 1, 1000, 1, 0, 0],
    ])
    expect(script.work.take('m:msg_1', ['Bash'])).toBeUndefined()
    expect({ ...script.work.end().rest }).toEqual({ Bash: [1, 0, 1000, 1, 0, 0] })
  })

  it('is the time that the agent states of a result, where it does', () => {
    const script = createScript()
    script.say([{ type: 'tool-call', callId: 'a', name: 'Bash', input: {} }])
    script.say([{ type: 'tool-result', callId: 'a', output: '' }], { durationMs: 123 })
    script.say([{ type: 'tool-call', name: 'Old', input: {} }], { at: '2026-01-01T00:00:01.000Z' })
    script.say([{ type: 'tool-result', name: 'Old', output: '' }], { at: '2026-01-01T00:00:00.000Z' })
    expect({ ...script.work.end().rest }).toEqual({ Bash: [1, 0, 123, 1, 0, 0], Old: [1, 0, 0, 0, 0, 0] })
  })

  it('is the files it touched, and how', () => {
    const script = createScript()
    call(script, 'Read', { input: { file_path: '/a' } })
    call(script, 'Edit', { input: { file_path: '/a', old_string: 'x' } })
    call(script, 'mcp__fs__write_file', { input: { path: '/b' } })
    call(script, 'Grep', { input: { path: '/src', pattern: 'x' } })
    call(script, 'str_replace_editor', { input: { command: 'view', path: '/c' } })
    call(script, 'apply_patch', { input: { patch: '*** Begin Patch\n*** Update File: d.ts\n' } })
    const { files, touched } = script.work.end()
    expect({ ...files }).toEqual({ '/a': 're', '/b': 'w', '/src': 'l', '/c': 'r', 'd.ts': 'e' })
    expect(touched).toBe(4)
  })

  it('is told by what a tool was given alone, whatever words a log has for it', () => {
    const script = createScript()
    for (const command of ['constructor', 'toString', '__proto__', 'view'])
      call(script, 'Shell', { input: { command, path: `/${command}` } })
    const told = { hash: 1, files: 5, way: 7 }
    const block = { type: 'tool-call', name: 'Read', input: { file_path: '/a' }, told }
    script.say([asBlock(block)], { role: 'assistant' })
    expect({ ...script.work.end().files }).toEqual({
      '/constructor': 'l',
      '/toString': 'l',
      '/__proto__': 'l',
      '/view': 'r',
      '/a': 'r',
    })
  })

  it('leaves out what a fork was given as history', () => {
    const script = createScript()
    script.say([{ type: 'tool-call', callId: 'a', name: 'Bash', input: {} }], {
      metadata: { replayed: true },
    })
    expect(script.work.end().tools).toEqual([])
  })

  it('has buckets for its whole time, however long', () => {
    const script = createScript()
    for (let n = 0; n < 10_000; n += 1) script.say([])
    const { activity, lastAt } = script.work.end()
    expect(activity?.counts.length).toBeLessThanOrEqual(24)
    expect(activity?.counts.reduce((sum, count) => sum + count, 0)).toBe(10_000)
    expect((activity?.bucketMs ?? 0) * (activity?.counts.length ?? 0)).toBeGreaterThanOrEqual(9_999_000)
    expect(lastAt).toBe(new Date(1_760_000_000_000 + 9_999_000).toISOString())
  })
})

describe('what was done in vain', () => {
  it('is the same call again with nothing changed in between', () => {
    const script = createScript()
    for (let n = 0; n < 4; n += 1) call(script, 'Bash', { input: { command: 'npm test' } })
    call(script, 'Bash', { input: { command: 'npm  test' } })
    const work = script.work.end()
    expect(work.repeats).toBe(3)
    expect(found(work)).toEqual([{ kind: 'repeated-calls', tool: 'Bash', count: 4, at: [0, 2, 4, 6] }])
  })

  it('is not a test that runs again after an edit, nor a call of long ago, nor one of another source', () => {
    const script = createScript()
    for (let n = 0; n < 5; n += 1) {
      call(script, 'Bash', { input: { command: 'npm test' } })
      call(script, 'Edit', { input: { file_path: '/a', old_string: `${n}` } })
    }
    call(script, 'Bash', { input: { command: 'ls' } })
    for (let n = 0; n < 20; n += 1) call(script, 'Bash', { input: { command: `echo ${n}` } })
    call(script, 'Bash', { input: { command: 'ls' } })
    call(script, 'Bash', { input: { command: 'ls' }, source: 'subagent:x' })
    const work = script.work.end()
    expect([work.repeats, work.findings]).toEqual([0, []])
  })

  it('is an edit that is tried again, and a loop of several calls', () => {
    const script = createScript()
    for (let n = 0; n < 3; n += 1) call(script, 'Edit', { input: { file_path: '/a', old_string: 'no' } })
    for (let n = 0; n < 3; n += 1) for (const name of ['A', 'B', 'C']) call(script, name, { input: 1 })
    const work = script.work.end()
    expect(work.repeats).toBe(8)
    expect(found(work).map(({ tool, count }) => [tool, count])).toEqual([
      ['Edit', 3],
      ['A', 3],
      ['B', 3],
      ['C', 3],
    ])
  })

  it('is a file read again that nothing has changed, and no other part of it', () => {
    const script = createScript()
    const read = (input: Json): void => call(script, 'Read', { input })
    read({ file_path: '/a' })
    for (let n = 0; n < 40; n += 1) call(script, 'Bash', { input: { command: `echo ${n}` } })
    read({ file_path: '/a' })
    read({ file_path: '/a', offset: 100 })
    read({ file_path: '/a' })
    call(script, 'Write', { input: { file_path: '/a', content: '' } })
    read({ file_path: '/a' })
    const work = script.work.end()
    expect(work.rereads).toBe(2)
    expect(found(work)).toEqual([{ kind: 're-reads', tool: 'Read', count: 3, at: [0, 82, 86], file: '/a' }])
  })

  it('is failures upon failures, until something works', () => {
    const script = createScript()
    for (let n = 0; n < 3; n += 1) call(script, 'Bash', { input: { n }, isError: true })
    call(script, 'Bash', { input: { n: 3 } })
    for (let n = 4; n < 6; n += 1) call(script, 'Bash', { input: { n }, isError: true })
    expect(found(script.work.end())).toEqual([{ kind: 'failures', tool: 'Bash', count: 3, at: [0, 2, 4] }])
  })
})

describe('a session of any size', () => {
  it('needs no more memory for many more entries, whatever they name', () => {
    const script = createScript()
    const held = (): number => heldBytes() / 1e6
    const add = (from: number, to: number): void => {
      for (let n = from; n < to; n += 1) {
        script.say(
          [
            {
              type: 'tool-call',
              callId: `c${n}`,
              name: `tool${n}`,
              input: { path: `/long/path/of/a/file/${n}` },
            },
          ],
          { source: n % 3 === 0 ? `subagent:${n % 500}` : 'primary', call: { messageId: `m${n}` } },
        )
      }
    }
    add(0, 25_000)
    const before = held()
    add(25_000, 60_000)
    expect(held() - before).toBeLessThan(10)
    const work = script.work.end()
    expect(Object.values(work.rest).reduce((sum, [calls]) => sum + calls, 0)).toBe(60_000)
    expect(JSON.stringify(work).length).toBeLessThan(200_000)
    expect(work.isCut).toBe(true)
  })
})
