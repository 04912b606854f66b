import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expectSameHoweverCut, reassemble, toSse } from '../../test/wire-streams.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { parseJson } from '../transcript/json.ts'
import { createGeminiReassembly, parseGeminiResponse } from './gemini.ts'
import { fromGeminiUsage } from './gemini-usage.ts'
import { createJsonArrayParser } from './json-array.ts'
import type { WireMessage } from './message.ts'

const chunk = (parts: readonly Json[], more: JsonObject = {}, candidate: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...candidate }],
  modelVersion: 'gemini-3-pro',
  responseId: 'r1',
  ...more,
})
const usage = (prompt: number, candidates: number, thoughts: number): JsonObject => ({
  usageMetadata: {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    thoughtsTokenCount: thoughts,
    cachedContentTokenCount: 60,
    totalTokenCount: prompt + candidates + thoughts,
  },
})

const TURN: JsonObject[] = [
  chunk([{ text: 'hm ', thought: true }], usage(100, 1, 4)),
  chunk([{ text: '🤔', thought: true }], usage(100, 2, 8)),
  chunk([{ text: 'Let me ' }], usage(100, 5, 8)),
  chunk([{ text: 'lóok.' }]),
  chunk(
    [{ functionCall: { name: 'shell', args: { cmd: 'ls' } }, thoughtSignature: 'c2ln' }],
    usage(100, 20, 10),
    { finishReason: 'STOP', safetyRatings: [{ category: 'x' }] },
  ),
]

const WHOLE: JsonObject = chunk(
  [
    { text: 'hm 🤔', thought: true },
    { text: 'Let me lóok.' },
    { functionCall: { name: 'shell', args: { cmd: 'ls' } }, thoughtSignature: 'c2ln' },
  ],
  usage(100, 20, 10),
  { finishReason: 'STOP', safetyRatings: [{ category: 'x' }] },
)

const read = (...events: Json[]): WireMessage => reassemble(createGeminiReassembly, toSse(events))

describe('an answer', () => {
  it('is the same streamed, in a streamed array, and whole', () => {
    const whole = parseGeminiResponse(WHOLE)
    expect(read(...TURN)).toEqual(whole)
    const array = Buffer.from(JSON.stringify(TURN, undefined, 2))
    expect(reassemble(createGeminiReassembly, array, [], createJsonArrayParser())).toEqual(whole)
    expect(parseGeminiResponse(TURN)).toEqual(whole)
  })

  it('has thoughts, text, calls with their signature, usage and stop reason', () => {
    expect(parseGeminiResponse(WHOLE)).toMatchObject({
      provider: 'google',
      messageId: 'r1',
      model: 'gemini-3-pro',
      blocks: [
        { type: 'thinking', text: 'hm 🤔' },
        { type: 'text', text: 'Let me lóok.' },
        { type: 'tool-call', name: 'shell', input: { cmd: 'ls' } },
      ],
      extras: [null, null, { thoughtSignature: 'c2ln' }],
      usage: { input: 40, cacheRead: 60, output: 30, reasoning: 10, quality: 'reported' },
      stopReason: 'STOP',
      complete: true,
      fields: { safetyRatings: [{ category: 'x' }] },
      unknown: [],
    })
  })

  it('is the same however its stream is cut', () => {
    expectSameHoweverCut(createGeminiReassembly, toSse(TURN, '\r\n'))
    expectSameHoweverCut(createGeminiReassembly, Buffer.from(JSON.stringify(TURN)), createJsonArrayParser)
  })

  it('keeps a part with a signature apart from its neighbours', () => {
    const message = read(
      chunk([{ text: 'a' }]),
      chunk([{ text: '', thoughtSignature: 's' }]),
      chunk([{ text: 'b' }]),
    )
    expect(message.blocks).toHaveLength(3)
    expect(message.extras).toEqual([null, { thoughtSignature: 's' }, null])
  })

  it('under "response" is read as well', () => {
    const wrapped = TURN.map((response): Json => ({ response, traceId: 't' }))
    expect(read(...wrapped)).toMatchObject({
      blocks: parseGeminiResponse(WHOLE).blocks,
      fields: { traceId: 't' },
    })
  })
})

describe('usage', () => {
  it('is running: the last report wins', () => {
    expect(read(...TURN).usage).toMatchObject({ output: 30, reasoning: 10 })
  })

  it('takes the cached tokens out of the prompt, which includes them', () => {
    expect(
      fromGeminiUsage({ promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 1 }),
    ).toMatchObject({
      input: 40,
      cacheRead: 60,
    })
  })

  it('adds thoughts to the candidates, which do not include them', () => {
    expect(
      fromGeminiUsage({ promptTokenCount: 1, candidatesTokenCount: 20, thoughtsTokenCount: 10 }),
    ).toMatchObject({
      output: 30,
      reasoning: 10,
    })
  })

  it('adds the prompts of the provider’s tools to the input', () => {
    const raw = {
      promptTokenCount: 10,
      toolUsePromptTokenCount: 7,
      candidatesTokenCount: 3,
      totalTokenCount: 20,
    }
    expect(fromGeminiUsage(raw)).toMatchObject({ input: 17, output: 3 })
  })

  it('knows an output of 0, which Gemini leaves out, from the total', () => {
    expect(fromGeminiUsage({ promptTokenCount: 10, totalTokenCount: 10 })).toMatchObject({
      input: 10,
      output: 0,
    })
    expect(
      fromGeminiUsage({ promptTokenCount: 10, thoughtsTokenCount: 5, totalTokenCount: 15 }),
    ).toMatchObject({
      output: 5,
      reasoning: 5,
    })
    expect(fromGeminiUsage({ promptTokenCount: 10 }).output).toBeUndefined()
  })

  it('is partial when the stream was cut, and unavailable when none came', () => {
    expect(read(...TURN.slice(0, 2))).toMatchObject({
      usage: { output: 10, quality: 'partial' },
      complete: false,
    })
    expect(read(chunk([{ text: 'x' }])).usage).toEqual({ quality: 'unavailable' })
  })
})

describe('streams that misbehave', () => {
  it('an error inside the stream is the message’s error', () => {
    const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
    const expected = { error: { message: 'The model is overloaded.', code: 'UNAVAILABLE' }, complete: false }
    expect(read(chunk([{ text: 'x' }]), error)).toMatchObject({ ...expected, blocks: [{ text: 'x' }] })
    const array = Buffer.from(`[${JSON.stringify(TURN[0])}${JSON.stringify(error)}`)
    expect(reassemble(createGeminiReassembly, array, [], createJsonArrayParser())).toMatchObject(expected)
    expect(parseGeminiResponse(error).usage).toBeUndefined()
  })

  it('a blocked prompt is an end, with its reason', () => {
    const blocked = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    }
    expect(read(blocked)).toMatchObject({
      blocks: [],
      stopReason: 'SAFETY',
      usage: { input: 5, output: 0, quality: 'reported' },
      complete: true,
    })
  })

  it('other candidates are alternatives', () => {
    const two = {
      candidates: [
        { index: 1, content: { parts: [{ text: 'b' }] } },
        { index: 0, content: { parts: [{ text: 'a' }] } },
      ],
    }
    expect(read(two)).toMatchObject({ blocks: [{ text: 'a' }], alternatives: [{ blocks: [{ text: 'b' }] }] })
  })

  it('what is not understood is kept verbatim', () => {
    const code = { executableCode: { language: 'PYTHON', code: '1' } }
    const partial = { functionCall: { name: 'f', partialArgs: [{}], willContinue: true } }
    const message = read(chunk([code, partial]), { hello: 1 }, 'text')
    expect(message.blocks).toEqual([
      { type: 'unknown', raw: code },
      { type: 'unknown', raw: partial },
    ])
    expect(message.unknown).toEqual([{ hello: 1 }, 'text'])
  })

  it('may be anything at all, and nothing throws', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 6 }), (values) => {
        const clean = values.map((value) => parseJson(JSON.stringify(value)) ?? null)
        const events = clean.map((value): Json => ({
          candidates: [value, { content: { parts: [value] }, finishReason: value }],
          usageMetadata: value,
        }))
        expect(read(...clean, ...events).role).toBe('assistant')
        for (const value of [...clean, ...events]) expect(parseGeminiResponse(value).role).toBe('assistant')
      }),
    )
  })
})
