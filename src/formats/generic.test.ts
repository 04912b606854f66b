import { describe, expect, it } from 'vitest'
import { expectToSurviveCuts } from '../../test/cuts.ts'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { generic } from './generic.ts'

const lines = (...values: readonly Json[]): string => values.map((value) => `${toJson(value)}\n`).join('')
const look = (text: string) => generic.detect(memoryFileSource('x', text))
const read = (text: string) => readAll(generic, memoryFileSource('x', text))
const roles = async (text: string) =>
  (await read(text)).map(({ entries }) => entries.map(({ role, kind }) => role ?? kind))

describe('some JSON with roles and contents', () => {
  it('is read in whatever words it says who and what', async () => {
    const told: readonly string[] = [
      lines({ role: 'user', content: 'a', mood: 1 }, { role: 'assistant', content: 'b' }),
      toJson([
        { speaker: 'Human', text: 'a' },
        { speaker: 'AI', text: 'b' },
      ]),
      toJson(
        {
          title: 'x',
          turns: [
            { from: 'human', value: 'a' },
            { from: 'gpt', value: 'b' },
          ],
        },
        2,
      ),
      lines(
        { id: 1, message: { role: 'user', content: 'a' } },
        { id: 2, message: { role: 'assistant', content: [{ type: 'text', text: 'b' }] } },
      ),
      toJson([
        { author: { role: 'user' }, content: { parts: ['a'] } },
        { author: { role: 'assistant' }, content: { parts: ['b'] } },
      ]),
    ]
    for (const text of told) {
      expect((await look(text))?.confidence).toBe(0.45)
      expect((await roles(text)).flat().filter((role) => role !== 'event')).toEqual(['user', 'assistant'])
      expect(
        (await read(text))[0]?.entries.flatMap(({ blocks }) =>
          blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
        ),
      ).toEqual(['a', 'b'])
    }
  })

  it('says how sure it is: never more than a format that knows', async () => {
    expect((await look(lines({ role: 'user', content: 'a' })))?.confidence).toBe(0.2)
    const mixed = lines(
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
      { x: 1 },
    )
    expect(await look(mixed)).toEqual({
      confidence: 0.35,
      reason: 'who spoke could be told in 3 of 4 records',
    })
    for (const text of [
      '',
      '[]',
      '{}',
      '7',
      lines({ a: 1 }, { b: 2 }),
      toJson({ role: 'admin', content: 'x' }),
      'user: a\nassistant: b',
    ])
      expect(await look(text)).toBeUndefined()
  })

  it('has a session for each record that is a conversation', async () => {
    const sets = lines(
      {
        id: 'x',
        conversations: [
          { from: 'human', value: 'a' },
          { from: 'gpt', value: 'b' },
        ],
      },
      { id: 'y', conversations: [{ from: 'human', value: 'c' }, { from: 'gpt', value: 'd' }, 7] },
    )
    expect(await roles(sets)).toEqual([
      ['event', 'user', 'assistant'],
      ['event', 'user', 'assistant', 'event'],
    ])
    const texts = lines({ shown: 'user: a\nassistant: b\nb2\ntool: c', task: 1 })
    expect(await roles(texts)).toEqual([['event', 'user', 'assistant', 'tool']])
    expect((await read(texts))[0]?.entries[2]?.blocks).toEqual([{ type: 'text', text: 'b\nb2' }])
  })

  it('takes calls and results of the usual kinds', async () => {
    const [one] = await read(
      lines(
        { role: 'user', content: 'Look.' },
        {
          role: 'assistant',
          content: 'ok',
          tool_calls: [{ id: 'c1', function: { name: 'look', arguments: { at: 1 } } }],
        },
        { role: 'tool', tool_call_id: 'c1', name: 'look', content: 'tree' },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'hm' },
            { type: 'tool-call', toolCallId: 'c2', toolName: 'ask', input: {} },
          ],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'c2',
              toolName: 'ask',
              output: { type: 'error-text', value: 'no' },
            },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c3', name: 'x', input: {} }] },
        { type: 'tool_use', tool_name: 'y', tool_use_id: 'c4', input: { at: 2 }, content: '' },
        { type: 'tool_result', tool_name: 'y', tool_use_id: 'c4', content: 'done' },
      ),
    )
    expect(one?.entries.map(({ blocks }) => blocks.map(({ type }) => type))).toEqual([
      ['text'],
      ['text', 'tool-call'],
      ['tool-result'],
      ['thinking', 'tool-call'],
      ['tool-result'],
      ['tool-call'],
      ['tool-call'],
      ['tool-result'],
    ])
    expect(one?.entries[6]?.blocks).toEqual([
      { type: 'tool-call', callId: 'c4', name: 'y', input: { at: 2 } },
    ])
    expect(one?.entries[4]?.blocks[0]).toMatchObject({ callId: 'c2', output: 'no', isError: true })
  })

  it('finds times, ids and models, and keeps the rest', async () => {
    const [one] = await read(
      lines(
        { role: 'user', content: 'a', ts: 1_700_000_000, message_id: 'm1', mood: 'good' },
        {
          role: 'assistant',
          content: 'b',
          timestamp: '2026-06-13T10:00:05.000000',
          metadata: { model: 'x/y' },
        },
        { role: 'assistant', content: 'c', time: 1_700_000_000_000 },
      ),
    )
    expect(one?.entries[0]).toMatchObject({
      id: 'm1',
      at: '2023-11-14T22:13:20.000Z',
      metadata: { mood: 'good' },
    })
    expect(one?.entries[1]?.at).toBe('2026-06-13T10:00:05.000Z')
    expect(one?.entries[2]?.at).toBe('2023-11-14T22:13:20.000Z')
  })

  it('counts what it finds, and vouches for none of it', async () => {
    const usage = async (counts: Json) =>
      (
        await read(
          lines({ role: 'assistant', content: 'a', about: { deep: { usage: counts, modelId: 'm' } } }),
        )
      )[0]?.entries[0]?.usage
    expect(await usage({ input_tokens: 12, output_tokens: 4, cache_read_tokens: 8 })).toMatchObject({
      input: 12,
      cacheRead: 8,
      output: 4,
      quality: 'estimated',
    })
    expect(await usage({ prompt_tokens: 12, completion_tokens: 4, cached_tokens: 8 })).toMatchObject({
      input: 4,
      cacheRead: 8,
    })
    expect(
      await usage({ inputTokens: 12, outputTokens: 4, cacheReadTokens: 8, totalTokens: 16 }),
    ).toMatchObject({ input: 4, cacheRead: 8 })
    expect(
      await usage({ inputTokens: 12, outputTokens: 4, cacheReadTokens: 8, totalTokens: 24 }),
    ).toMatchObject({ input: 12, cacheRead: 8 })
    expect(await usage({ input_tokens: 0, output_tokens: 0 })).toMatchObject({ quality: 'unavailable' })
    expect(await usage({ steps: 4 })).toBeUndefined()
  })

  it('is read up to any byte', async () => {
    await expectToSurviveCuts(
      generic,
      lines({ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }),
    )
    await expectToSurviveCuts(
      generic,
      toJson({
        turns: [
          { from: 'human', value: 'a' },
          { from: 'gpt', value: 'b' },
        ],
      }),
    )
  })
})
