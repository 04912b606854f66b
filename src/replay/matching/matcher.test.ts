import { describe, expect, it } from 'vitest'
import type { Json } from '../../transcript/json.ts'
import type { Asked } from './keys.ts'
import { createMatcher, type MatcherOptions, type RecordedCall } from './matcher.ts'
import { createNormalisers } from './normalisers.ts'

const user = (content: Json): Json => ({ role: 'user', content })
const said = (content: Json): Json => ({ role: 'assistant', content })
const called = (id: string): Json => said([{ type: 'tool_use', id, name: 'Bash', input: { command: 'ls' } }])
const result = (id: string, content: string): Json =>
  user([{ type: 'tool_result', tool_use_id: id, content }])
const asked = (messages: readonly Json[], more: { readonly [name: string]: Json } = {}): Asked => ({
  api: 'anthropic-messages',
  body: { model: 'm', system: 'You are an agent.', tools: [{ name: 'Bash' }], messages, ...more },
})
const call = (request: Asked, lane = 'primary'): RecordedCall => ({ lane, asked: () => request })
const matcher = (calls: readonly RecordedCall[], options: MatcherOptions = {}) =>
  createMatcher(calls, { normalisers: createNormalisers({ roots: ['/srv/one', '/srv/two'] }), ...options })

const CONVERSATION = [
  asked([user('list the files')]),
  asked([user('list the files'), called('toolu_1'), result('toolu_1', 'a.txt')]),
  asked([
    user('list the files'),
    called('toolu_1'),
    result('toolu_1', 'a.txt'),
    said('done'),
    user('thanks'),
  ]),
]

describe('a request that was recorded', () => {
  it('is found, whatever the order of its keys, and each recorded call is given once', () => {
    const one = matcher(CONVERSATION.map((request) => call(request)))
    const turned = Object.fromEntries(Object.entries(CONVERSATION[0]?.body as object).toReversed()) as Json
    expect(one.choose({ api: 'anthropic-messages', body: turned })).toEqual({ how: 'exact', index: 0 })
    expect(one.choose(CONVERSATION[1] as Asked)).toEqual({ how: 'exact', index: 1 })
    expect(one.unasked()).toEqual([2])
  })

  it('is found again in the order in which it was answered, then its last so often and no more', () => {
    const [first] = CONVERSATION
    const one = matcher([call(first as Asked), call(first as Asked)], { repeats: 2 })
    const given = Array.from({ length: 5 }, () => one.choose(first as Asked))
    expect(given).toMatchObject([
      { how: 'exact', index: 0 },
      { how: 'exact', index: 1 },
      { how: 'exact', index: 1, repeat: 1 },
      { how: 'exact', index: 1, repeat: 2 },
      { how: 'miss', reason: 'asked-too-often', nearest: 1 },
    ])
  })

  it('may be asked in another order, which is said', () => {
    const one = matcher(CONVERSATION.map((request) => call(request)))
    expect(one.choose(CONVERSATION[2] as Asked)).toEqual({ how: 'exact', index: 2, isOutOfOrder: true })
    expect(one.choose(CONVERSATION[0] as Asked)).toEqual({ how: 'exact', index: 0 })
  })

  it('is not out of order beside another lane', () => {
    const lanes = ['primary', 'subagent:a', 'subagent:b']
    const one = matcher(lanes.map((lane) => call(asked([user(`do ${lane}`)]), lane)))
    for (const index of [2, 0, 1])
      expect(one.choose(asked([user(`do ${lanes[index]}`)]))).toEqual({ how: 'exact', index })
  })
})

describe('what differs each time', () => {
  const differs: readonly (readonly [string, Json, Json])[] = [
    [
      'ids',
      'message msg_01abc2 of 6ba7b810-9dad-11d1-80b4-00c04fd430c8',
      'message msg_09xyz1 of 00000000-9dad-11d1-80b4-00c04fd430c9',
    ],
    ['dates', 'Today is 2026-11-15, at 10:11:12.', 'Today is 2027-01-02, at 23:59:59.'],
    ['paths', 'in /srv/one/src/a.ts', 'in /srv/two/src/a.ts'],
    ['paths', 'in /tmp/a1/x', 'in /tmp/b2/x'],
    ['paths', 'in /home/ann/.cache', 'in /Users/bob/.cache'],
    ['git', 'at 3f2a91c', 'at 9bc01d2'],
    ['durations', 'duration_ms: 412', 'duration_ms: 39'],
    ['paths', 'in /srv/x/.claude/projects', 'in /opt/y/z/.claude/projects'],
    ['durations', 'took 0.031 seconds', 'took 12 seconds'],
    [
      'billing',
      'x-anthropic-billing-header: cc_version=1; cch=aa',
      'x-anthropic-billing-header: cc_version=1; cch=bb',
    ],
  ]
  it.each(differs)('%s: is left out, and it is said that it was', (name, then, now) => {
    const one = matcher([call(asked([user(then)]))])
    expect(one.choose(asked([user(now)]))).toMatchObject({ how: 'normalised', index: 0, by: [name] })
  })

  it('may be a field', () => {
    const one = matcher([call(asked([user('x')], { metadata: { user_id: 'a' } }))])
    const now = asked([user([{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }])], {
      metadata: { user_id: 'b' },
    })
    const then = asked([user([{ type: 'text', text: 'x' }])], { metadata: { user_id: 'a' } })
    expect(one.choose(asked([user('x')], { metadata: { user_id: 'c' } }))).toMatchObject({
      how: 'normalised',
      by: ['user-ids'],
    })
    expect(matcher([call(then)]).choose(now)).toMatchObject({
      how: 'normalised',
      by: ['cache-control', 'user-ids'],
    })
  })

  it('is the order in which tools that ran side by side came to their ends', () => {
    const both = said([
      ...(called('toolu_1') as { content: Json[] }).content,
      ...(called('toolu_2') as { content: Json[] }).content,
    ])
    const given = (...ids: readonly string[]): Json =>
      user(
        ids.map((id) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: id === 'toolu_1' ? 'one' : 'two',
        })),
      )
    const then = asked([user('go'), both, given('toolu_1', 'toolu_2')])
    const now = asked([user('go'), both, given('toolu_2', 'toolu_1')])
    expect(matcher([call(then)]).choose(now)).toMatchObject({
      how: 'normalised',
      by: ['result-order'],
    })
    const outputs = (...ids: readonly string[]): Asked => ({
      api: 'openai-responses',
      body: {
        input: [
          user('go'),
          ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: `of ${id}` })),
        ],
      },
    })
    expect(matcher([call(outputs('call_1', 'call_2'))]).choose(outputs('call_2', 'call_1')).how).toBe(
      'normalised',
    )
    const swapped = asked([
      user('go'),
      both,
      user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'two' }]),
    ])
    expect(matcher([call(then)]).choose(swapped).how).toBe('positional')
  })

  it('is nothing that was meant: words, names, arguments, order', () => {
    const then = asked([user('fix run_tests in call_graph')])
    for (const now of [
      'fix run_build in call_graph',
      'fix run_tests in call_tree',
      'fix run_tests in call_graph now',
    ])
      expect(matcher([call(then)]).choose(asked([user(now)])).how).toBe('positional')
  })
})

describe('a request that is another', () => {
  it('is answered by its position, with every difference by its path', () => {
    const one = matcher(CONVERSATION.map((request) => call(request)))
    one.choose(CONVERSATION[0] as Asked)
    const now = asked([user('list the files'), called('toolu_1'), result('toolu_1', 'b.txt')])
    expect(one.choose(now)).toEqual({
      how: 'positional',
      index: 1,
      differences: [
        { path: 'messages[2].content[0].content', kind: 'changed', recorded: 'a.txt', live: 'b.txt' },
      ],
    })
  })

  it('is a miss where that is not allowed', () => {
    const one = matcher([call(CONVERSATION[0] as Asked)], { loosest: 'normalised' })
    expect(one.choose(asked([user('list the folders')]))).toMatchObject({
      how: 'miss',
      reason: 'not-allowed',
      nearest: 0,
      differences: [{ path: 'messages[0].content' }],
    })
    const strict = matcher([call(asked([user('at 2026-01-01')]))], { loosest: 'exact' })
    expect(strict.choose(asked([user('at 2026-01-02')])).how).toBe('miss')
  })

  it('is a miss at another step, after the end, and in a lane that nobody knows', () => {
    const one = matcher(CONVERSATION.slice(0, 2).map((request) => call(request)))
    expect(
      one.choose(asked([user('list the files'), said('no'), user('why?'), said('so'), user('x')])),
    ).toMatchObject({
      how: 'miss',
      reason: 'nothing-like-it',
    })
    one.choose(CONVERSATION[0] as Asked)
    one.choose(CONVERSATION[1] as Asked)
    expect(one.choose(CONVERSATION[2] as Asked)).toMatchObject({
      how: 'miss',
      reason: 'lane-is-over',
      nearest: 1,
    })
    const strange: Asked = { api: 'openai-chat', body: { messages: [user('x')] } }
    expect(one.choose(strange)).toEqual({ how: 'miss', reason: 'nothing-like-it' })
  })

  it('goes on with the lane whose answers it repeats', () => {
    const lane = (name: string): readonly Asked[] => [
      asked([user('go')]),
      asked([user('go'), called(`toolu_${name}`), result(`toolu_${name}`, name)]),
    ]
    const one = createMatcher([
      ...lane('1').map((request) => call(request, 'a')),
      ...lane('2').map((request) => call(request, 'b')),
    ])
    one.choose(asked([user('go')]))
    one.choose(asked([user('go')]))
    expect(one.choose(asked([user('go'), called('toolu_2'), result('toolu_2', 'else')]))).toMatchObject({
      how: 'positional',
      index: 3,
    })
  })
})

describe('a call of which only entries are there', () => {
  const turns: readonly RecordedCall[] = [
    { lane: 'primary', turn: { position: 0, words: ['list the files'], results: [] } },
    { lane: 'primary', turn: { position: 1, words: [], results: ['toolu_1'] } },
  ]
  it('is found by what was new, and says so', () => {
    const one = matcher(turns)
    expect(
      one.choose(
        asked([
          user([
            { type: 'text', text: 'list the files' },
            { type: 'text', text: '<reminder>' },
          ]),
        ]),
      ),
    ).toEqual({
      how: 'positional',
      index: 0,
      by: ['turn'],
    })
    expect(one.choose(CONVERSATION[1] as Asked)).toEqual({ how: 'positional', index: 1, by: ['turn'] })
    expect(one.choose(CONVERSATION[2] as Asked)).toMatchObject({ how: 'miss', reason: 'lane-is-over' })
  })
})
