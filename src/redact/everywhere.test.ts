import { describe, expect, it } from 'vitest'
import { fakeKeys, githubToken, scrambled } from '../../test/fake-keys.ts'
import type { Block } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { isSafeId } from '../transcript/ids.ts'
import { toJson, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createRedactor, type RedactorOptions } from './redactor.ts'

const KNOWN = 'hunter2'
const redactor = (options: Partial<RedactorOptions> = {}) =>
  createRedactor({
    key: Buffer.alloc(32, 7),
    values: [{ name: 'secret', value: KNOWN }],
    ...options,
  })
const secret = githubToken(5)

/** Every string of a value, with the way to it; a copy of the value with one of them replaced. */
function strings(value: unknown, way = ''): readonly string[] {
  if (typeof value === 'string') return [way]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, one]) => strings(one, `${way}/${key}`))
}
function withString<T>(value: T, way: string, text: string): T {
  const copy = structuredClone(value)
  const keys = way.slice(1).split('/')
  const last = keys.pop() as string
  let at = copy as Record<string, unknown>
  for (const key of keys) at = at[key] as Record<string, unknown>
  at[last] = text
  return copy
}

const SHA = `sha256:${'a'.repeat(64)}`
const entry = {
  id: 'e1',
  parent: 'e0',
  source: 'subagent:one',
  sequence: 0,
  kind: 'message',
  role: 'assistant',
  at: '2026-01-01T00:00:00.000Z',
  model: 'm',
  stopReason: 's',
  durationMs: 1,
  usage: { input: 1, quality: 'reported', raw: { note: 'n' }, extra: 'x' },
  call: { provider: 'p', requestId: 'r', messageId: 'm', extra: 'x' },
  metadata: { record: 'a', nested: { list: ['b'] }, parentSource: 'subagent:zero' },
  origin: { format: 'f', file: '/x', record: 1, byteOffset: 0, byteLength: 1 },
  extra: { more: ['x'] },
  blocks: [
    { type: 'text', text: 't', citations: [{ cited: 'c' }] },
    { type: 'text', text: { blob: SHA, bytes: 1, mediaType: 'text/plain' } },
    { type: 'thinking', text: 't', signature: 's', redacted: 'r', extra: 'x' },
    { type: 'tool-call', callId: 'c', name: 'n', input: { a: 'b' }, extra: 'x' },
    { type: 'tool-call', name: 'n', inputBlob: { blob: SHA, bytes: 1, mediaType: 'text/plain' } },
    { type: 'tool-result', callId: 'c', name: 'n', output: 'o', error: 'e', extra: 'x' },
    { type: 'tool-result', output: [{ type: 'text', text: 't', extra: 'x' }] },
    { type: 'image', mediaType: 'image/png', data: 'aaaa', url: 'https://x.test', extra: 'x' },
    { type: 'error', message: 'm', code: 'c', extra: 'x' },
    { type: 'unknown', raw: { a: 'b' }, reason: 'r', extra: 'x' },
    { type: 'tool_use', id: 't', name: 'n', input: { a: 'b' } },
    'bare',
  ],
} as unknown as Entry

const session = {
  id: 's1',
  status: 'running',
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:00:00.000Z',
  native: { agent: 'a', sessionId: 'n' },
  names: { devflow: 'd', entire: 'e' },
  recordings: [{ by: 'b', startedAt: '2026-01-01T00:00:00.000Z', file: 'f' }],
  title: 't',
  agent: 'a',
  model: 'm',
  run: { id: 'r', flow: 'f', step: 's', node: 'n', agentKey: 'k', engine: 'e' },
  thread: 't',
  chat: 'c',
  mode: 'm',
  cwd: '/x',
  git: { branch: 'b', commit: 'c', remote: 'r' },
  version: '1',
  error: 'e',
  stopReason: 's',
  input: { a: 'b' },
  parent: { session: 'p', citation: 'p#1' },
  tags: { a: 'b' },
  totals: {
    entries: 1,
    toolCalls: 0,
    calls: 0,
    uncounted: 2,
    models: ['m'],
    cost: { usd: '0.1', unpriced: ['m'] },
  },
  reportedUsage: { quality: 'reported', raw: { a: 'b' } },
  reportedCost: '0.1',
  metadata: { devflow: { a: 'b' } },
  extra: 'x',
} as unknown as Session

/** Ids, blob names, and words of ours. */
const EXACT = new Set([
  '/id',
  '/parent',
  '/call/requestId',
  '/call/messageId',
  '/blocks/3/callId',
  '/blocks/5/callId',
])
/** Random by nature: only known values are looked for. */
const OPAQUE = new Set(['/blocks/2/signature', '/blocks/2/redacted', '/blocks/7/data'])

describe('an entry', () => {
  const found = strings(entry).filter((way) => !EXACT.has(way))
  it.each(found)('has no secret left in %s', (way) => {
    const known = redactor().entry(withString(entry, way, `a ${KNOWN} b`))
    expect(toJson(known)).not.toContain(KNOWN)
    const shaped = redactor().entry(withString(entry, way, secret))
    if (OPAQUE.has(way)) expect(toJson(shaped)).toContain(secret)
    else expect(toJson(shaped)).not.toContain(secret.slice(8, 20))
    for (const once of [known, shaped]) expect(redactor().entry(once)).toEqual(once)
  })

  it('keeps ids as they are, whatever they look like', () => {
    for (const way of EXACT) {
      const out = redactor().entry(withString(entry, way, secret))
      expect(out, way).toEqual(withString(entry, way, secret))
    }
  })

  it('is the same object when there is nothing to take out', () => {
    expect(redactor().entry(entry)).toBe(entry)
    expect(redactor().session(session)).toBe(session)
  })

  it('has no secret left in a key that nobody expects', () => {
    for (const way of ['', 'usage', 'call', 'metadata', 'origin', 'blocks/0', 'blocks/10']) {
      const holder = `/${way}/new`.replace('//', '/')
      const out = redactor().entry(withString(entry, holder, 'x'))
      expect(out).not.toEqual(entry)
      const named = withString(entry, holder.replace(/new$/, secret), 'x')
      expect(toJson(redactor().entry(named)), way).not.toContain(secret.slice(8, 20))
      const secretive = withString(entry, holder.replace(/new$/, 'authorization'), 'swordfish')
      expect(toJson(redactor().entry(secretive)), way).not.toContain('swordfish')
    }
  })

  it('keeps blocks of other people, and what is no block at all', () => {
    const blocks = [
      { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: `echo ${secret}` } },
      null,
      7,
      secret,
      ['a'],
      undefined,
      { text: 'no type' },
    ] as unknown as Block[]
    const out = redactor().entry({ ...entry, blocks }).blocks as unknown as Json[]
    expect(toJson(out)).not.toContain(secret.slice(8, 20))
    expect(out[0]).toMatchObject({ type: 'tool_use', id: 'toolu_1', name: 'Bash' })
    expect(out.slice(1, 3)).toEqual([null, 7])
    expect(out.slice(4)).toEqual([['a'], null, { text: 'no type' }])
  })

  it('is looked through as it will be written', () => {
    const sly = { toJSON: () => ({ a: secret }) } as unknown as Json
    const boxed = Object(secret) as Json
    const slyer = { toJSON: () => ({ toJSON: () => ({ a: secret }) }) } as unknown as Json
    expect(toJson(redactor().json({ sly, slyer, list: [sly, slyer], boxed }))).not.toContain(
      secret.slice(8, 20),
    )
    for (const one of [sly, slyer, boxed]) {
      const out = redactor().entry({ ...entry, metadata: one, usage: one, call: one, blocks: [one] } as never)
      expect(toJson(out)).not.toContain(secret.slice(8, 20))
    }
    const never = { toJSON: () => never } as unknown as Json
    expect(toJson(redactor().json({ never }))).toBe('{"never":{}}')
  })

  it('is withheld when its blocks go too deep', () => {
    let deep: Json = { type: 'text', text: secret }
    for (let i = 0; i < 100_000; i += 1) deep = { type: 'tool-result', output: [deep] }
    const out = redactor().entry({ ...entry, blocks: [deep as unknown as Block] })
    expect(out.blocks).toMatchObject([{ reason: 'content withheld: nested deeper than 400 levels' }])
  })

  it('keeps nothing of its envelope either when it is withheld', () => {
    let deep: Json = 'bottom'
    for (let i = 0; i < 500; i += 1) deep = [deep]
    const out = redactor().entry({
      ...entry,
      source: `subagent:${secret}`,
      model: secret,
      stopReason: KNOWN,
      call: { provider: secret, messageId: 'm' },
      metadata: { deep },
      extra: secret,
    } as unknown as Entry)
    expect(toJson(out)).not.toContain(secret.slice(8, 20))
    expect(toJson(out)).not.toContain(KNOWN)
    expect(out).toMatchObject({ id: 'e1', sequence: 0, call: { messageId: 'm' }, usage: { input: 1 } })
    expect(out).not.toHaveProperty('extra')
    const sealed = redactor().session({ ...session, chat: secret, stopReason: KNOWN, input: { deep } })
    expect(toJson(sealed)).not.toContain(secret.slice(8, 20))
    expect(toJson(sealed)).not.toContain(KNOWN)
    expect(sealed).toMatchObject({ id: 's1', run: { id: 'r' }, totals: { entries: 1, uncounted: 2 } })
  })
})

describe('a session', () => {
  it.each(strings(session).filter((way) => way !== '/id'))('has no secret left in %s', (way) => {
    for (const text of [`a-${KNOWN}-b`, secret]) {
      const out = redactor().session(withString(session, way, text))
      expect(toJson(out)).not.toContain(KNOWN)
      expect(toJson(out)).not.toContain(secret.slice(8, 20))
      expect(redactor().session(out)).toEqual(out)
    }
  })
})

describe('names that files are called by', () => {
  it('stay safe ids, the same everywhere, whatever was in them', () => {
    const r = redactor({ env: { MY_VERY_LONG_VARIABLE_NAME_THAT_GOES_ON_TOKEN: 'abc12345' } })
    for (const [, key] of fakeKeys()) {
      for (const id of [key, `run-${key}`, `${key}.2`, `a_${KNOWN}_b`, `${'x'.repeat(110)}-abc12345`]) {
        if (!isSafeId(id)) continue
        const out = r.id(id)
        expect(isSafeId(out), out).toBe(true)
        expect(out).toMatch(/REDACTED-[a-z0-9-]+-[0-9a-f]{8}/)
        expect(r.id(out)).toBe(out)
        const { run, thread, names } = r.session({
          id: 's',
          status: 'running',
          run: { id, flow: id, step: id, agentKey: id, engine: id },
          thread: id,
          names: { devflow: id },
        })
        expect(new Set([...Object.values(run ?? {}), thread, names?.['devflow']])).toEqual(new Set([out]))
        const said = r.entry({
          ...entry,
          source: `subagent:${id}`,
          metadata: { parentSource: `subagent:${id}` },
        })
        expect(said.source).toBe(`subagent:${out}`)
        expect(said.metadata?.['parentSource']).toBe(`subagent:${out}`)
      }
    }
  })

  it('are left alone when there is no secret in them', () => {
    for (const id of ['2025-01-15-review-pr-123', 'reset-password', 'token-refresh.2', 'primary'])
      expect(redactor().id(id)).toBe(id)
  })
})

describe('secrets that a caller gives', () => {
  it('are found from four characters on', () => {
    const r = redactor({ values: [{ name: 'pin', value: 'k9x!' }] })
    expect(r.text('pin k9x! it')).toMatch(/^pin \[REDACTED:pin:[0-9a-f]{8}\] it$/)
    expect(r.text('k9x!')).toMatch(/^\[REDACTED:pin/)
    expect(toJson(r.json({ 'k9x!': 1 }))).not.toContain('k9x!')
    const encoded = Buffer.from(`me:${KNOWN}`).toString('base64')
    expect(redactor().text(`Basic ${encoded}`)).not.toContain(encoded.slice(6, -2))
  })

  it('are refused when they are shorter, without being said', () => {
    const values = ['long enough', 'abc'].map((value) => ({ name: 'secret', value }))
    const refused = (given: RedactorOptions['values']) => () => redactor({ values: given ?? [] })
    expect(refused(values)).toThrow(
      expect.objectContaining({ code: 'invalid-argument', message: expect.stringContaining('number 2') }),
    )
    expect(refused(values)).not.toThrow(/abc/)
    expect(refused([{ name: 'secret', value: '' }])).toThrow(/number 1/)
    expect(refused([{ name: 'secret', value: undefined as unknown as string }])).toThrow(/number 1/)
  })
})

describe('lists and containers', () => {
  const plain = scrambled(24, 9)
  it.each<[string, Json]>([
    ['pairs', [['x-api-key', 'swordfish']]],
    [
      'pairs among others',
      [
        ['accept', '*/*'],
        ['Authorization', 'Bearer swordfish'],
      ],
    ],
    ['a pair', ['x-api-key', plain]],
    ['raw headers', ['Host', 'x.test', 'Authorization', `Bearer ${plain}`, 'Accept', '*/*']],
    ['an option', ['cli', '--password', 'swordfish', 'go']],
    ['a token option', ['cli', '--token', plain]],
    ['an option with one hyphen', ['java', '-password', 'swordfish']],
    ['a header option', ['curl', '-H', 'Authorization: Bearer swordfish']],
    ['a long header option', ['curl', '--header', 'X-Api-Key: swordfish', 'https://x.test']],
    ['secrets', { secrets: { FOO: 'swordfish', other: 'swordfish' } }],
    ['secrets in a list', { secrets: [{ name: 'FOO', value: 'swordfish' }, 'swordfish'] }],
    ['api keys', { apiKeys: { anthropic: 'swordfish' } }],
    ['credentials', { credentials: { user: 'bob', what: plain } }],
    ['an environment', { env: { API_KEY: 'swordfish', STRIPE_KEY: plain } }],
  ])('give their secrets away: %s', (_, value) => {
    const out = redactor().json(value)
    const text = toJson(out)
    expect(text).not.toContain('swordfish')
    expect(text).not.toContain(plain)
    expect(text).toContain('[REDACTED:')
    expect(redactor().json(out)).toEqual(out)
  })

  it.each<[Json]>([
    [{ credentials: 'same-origin' }],
    [{ credentials: 'include', mode: 'cors' }],
    [{ credentials: 'omit' }],
    [{ credentials: { type: 'oauth', username: 'bob', region: 'eu-west-1' } }],
    [{ required: ['password', 'username2'] }],
    [['token', 'secret', 'password', 'address line']],
    [['--password', '--help']],
    [['docker', 'login', '--password-stdin', 'registry.test']],
    [['--no-password', 'mydatabase1']],
    [['--token-file', '/run/token']],
    [['git', 'commit', '-m', 'token handling for 2024 releases']],
    [['curl', '-H', 'Accept: application/json1']],
    [{ secrets: { type: 'object', description: 'What to take out', token: { required: true } } }],
    [{ imagePullSecrets: [{ name: 'regcred1' }] }],
    [{ env: { HOME: '/home/me', NODE_ENV: 'production1', SORT_KEY: 'createdAt' } }],
    [{ tokens: { input: 1, output: 'many of them' } }],
    [{ blob: SHA, bytes: 1, mediaType: 'text/plain' }],
  ])('have none in %j', (value) => {
    expect(redactor().json(value)).toBe(value)
  })
})
