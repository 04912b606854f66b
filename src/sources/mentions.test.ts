import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { openArchive } from '../archive/archive.ts'
import { uuidFrom } from '../transcript/ids.ts'
import type { Session } from '../transcript/session.ts'
import { openSessions } from './sessions.ts'
import { sync } from './sync.ts'

const PARENT = '01990000-0000-7000-8000-00000000000a'
const CHILD = '01990000-9000-7000-8000-00000000000b'
const FORK = '01990000-9100-7000-8000-00000000000c'
const at = (second: number): string => new Date(Date.UTC(2026, 1, 10, 10, 0, second)).toISOString()
const jsonl = (...lines: readonly object[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join('')
const line = (type: string, payload: object, second = 1): object => ({ timestamp: at(second), type, payload })
const meta = (id: string, facts: object = {}): object =>
  line('session_meta', { id, timestamp: at(0), cwd: '/p', cli_version: '0.135.0', source: 'cli', ...facts })
const asked = (text: string): object =>
  line('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
const spawn = line('response_item', {
  type: 'function_call',
  name: 'spawn_agent',
  arguments: '{}',
  call_id: 'c1',
})
const spawned = line('response_item', {
  type: 'function_call_output',
  call_id: 'c1',
  output: JSON.stringify({ agent_id: CHILD }),
})
const thread = (id: string): string => `.codex/sessions/2026/02/10/rollout-2026-02-10T10-00-00-${id}.jsonl`

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true })
})

type Synced = {
  readonly sessions: number
  readonly list: ReadonlyMap<string | undefined, Session>
  readonly show: (id: string) => Promise<Session>
}
type Machine = {
  readonly write: (files: Readonly<Record<string, string>>) => void
  readonly run: () => Promise<Synced>
}

/** A home folder that is synced as it stands, again and again. */
function machine(): Machine {
  const home = fs.mkdtempSync(join(tmpdir(), 'hansard-mentions-'))
  folders.push(home)
  const archive = join(home, 'archive')
  return {
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        fs.mkdirSync(dirname(join(home, path)), { recursive: true })
        fs.writeFileSync(join(home, path), text)
      }
    },
    async run() {
      const report = await sync(openArchive(archive, { write: true }), {
        cwd: home,
        env: {},
        userHome: home,
      })
      expect(report.problems).toEqual([])
      const opened = await openSessions(archive)
      const { sessions } = opened.list({})
      opened.close()
      return {
        sessions: report.sessions,
        list: new Map(sessions.map((one) => [one.native?.sessionId, one])),
        async show(id) {
          const again = await openSessions(archive)
          let last: Session | undefined
          for await (const items of again.read(again.find(id)))
            for (const item of items) if (item.type === 'session') last = item.session
          again.close()
          return last as Session
        },
      }
    },
  }
}

const key = (id: string): string => uuidFrom('codex', id)
const child = meta(CHILD, { source: { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1 } } } })
const link = { session: key(PARENT), citation: `${key(PARENT)}#2`, relation: 'subagent' }

describe('a session that another one started', () => {
  it.each<[string, readonly string[]]>([
    ['together', ['both']],
    ['the starting one first', ['parent', 'child']],
    ['the started one first', ['child', 'parent']],
  ])('cites the call, read %s', async (_, order) => {
    const { write, run } = machine()
    const parentFile = { [thread(PARENT)]: jsonl(meta(PARENT), asked('go'), spawn, spawned) }
    const childFile = { [thread(CHILD)]: jsonl(child, asked('look')) }
    for (const step of order) {
      if (step !== 'child') write(parentFile)
      if (step !== 'parent') write(childFile)
      await run()
    }
    const { list, show } = await run()
    expect(list.get(CHILD)?.parent).toEqual(link)
    expect((await show(key(CHILD))).parent).toEqual(link)
    expect(list.get(PARENT)?.parent).toBeUndefined()
  })

  it('does not cite a fork that begins with a copy of the call', async () => {
    const { write, run } = machine()
    const copied = [meta(PARENT), asked('go'), spawn, spawned]
    write({
      [thread(PARENT)]: jsonl(...copied),
      [thread(CHILD)]: jsonl(child, asked('look')),
      [thread(FORK)]: jsonl(meta(FORK, { forked_from_id: PARENT }), ...copied),
    })
    const { list } = await run()
    expect(list.get(CHILD)?.parent).toEqual(link)
    expect(list.get(FORK)?.parent).toEqual({ session: key(PARENT), relation: 'fork' })
  })

  it('cites the call of Gemini CLI too', async () => {
    const { write, run } = machine()
    const [parent, other] = ['5e000000-1111-4222-8333-abcdefabcdef', '9e000000-1111-4222-8333-abcdefabcdef']
    const header = { sessionId: parent, projectHash: 'h', startTime: at(0), lastUpdated: at(9) }
    const user = { id: 'u1', timestamp: at(1), type: 'user', content: 'go' }
    const model = {
      id: 'g1',
      timestamp: at(2),
      type: 'gemini',
      content: 'asking',
      model: 'gemini-3',
      toolCalls: [{ id: 'c1', name: 'agent', args: {}, status: 'success', agentId: other, timestamp: at(2) }],
    }
    write({
      '.gemini/tmp/demo/chats/session-1.jsonl': jsonl(header, user, model),
      [`.gemini/tmp/demo/chats/${parent}/${other}.jsonl`]: jsonl(
        { ...header, sessionId: other, kind: 'subagent' },
        user,
        { ...model, toolCalls: [] },
      ),
    })
    const { list, show } = await run()
    const [session, sequence] = [uuidFrom('gemini-cli', parent), 2]
    const cited = { session, citation: `${session}#${sequence}`, relation: 'subagent' }
    expect(list.get(other)?.parent).toEqual(cited)
    expect((await show(uuidFrom('gemini-cli', other))).parent).toEqual(cited)
  })
})

describe('the index of Codex’s threads', () => {
  const index = (...names: readonly string[]): string =>
    jsonl(...names.map((thread_name) => ({ id: PARENT, thread_name, updated_at: at(1) })))

  it('names sessions, whichever comes first, and those it names alone are none', async () => {
    const { write, run } = machine()
    const gone = jsonl({ id: CHILD, thread_name: 'gone', updated_at: at(1) })
    write({ '.codex/session_index.jsonl': index('first') + gone })
    expect((await run()).list.size).toBe(0)
    write({ [thread(PARENT)]: jsonl(meta(PARENT), asked('go')) })
    const { list, show, sessions } = await run()
    expect([...list.values()].map(({ title }) => title)).toEqual(['first'])
    expect((await show(key(PARENT))).title).toBe('first')
    expect(sessions).toBe(1)
    write({ '.codex/session_index.jsonl': index('first', 'last') + gone })
    const renamed = await run()
    expect(renamed.list.get(PARENT)?.title).toBe('last')
    expect(renamed.sessions).toBe(0)
  })

  it('gives way to what the thread calls itself', async () => {
    const { write, run } = machine()
    const own = line('event_msg', { type: 'thread_name_updated', thread_id: PARENT, thread_name: 'own' })
    write({ '.codex/session_index.jsonl': index('other'), [thread(PARENT)]: jsonl(meta(PARENT), own) })
    expect((await run()).list.get(PARENT)?.title).toBe('own')
  })
})

describe('a file that was rewritten in another format', () => {
  it('has sessions that each say which format they were recorded in', async () => {
    const { write, run } = machine()
    const path = thread(PARENT)
    write({ [path]: jsonl(meta(PARENT), asked('go')) })
    await run()
    const pi = '01990000-7777-7000-8000-00000000000d'
    write({
      [path]: jsonl(
        { type: 'session', version: 3, id: pi, timestamp: at(5), cwd: '/p' },
        {
          type: 'message',
          id: 'a1b2c3d4',
          parentId: null,
          timestamp: at(6),
          message: { role: 'user', content: [{ type: 'text', text: 'hello' }], timestamp: 1 },
        },
      ),
    })
    const { list } = await run()
    expect(list.get(PARENT)?.recordings?.map(({ by }) => by)).toEqual(['codex'])
    expect(list.get(pi)?.recordings?.map(({ by }) => by)).toEqual(['pi'])
  })
})
