import { describe, expect, it } from 'vitest'
import type { PlayedAnswer } from './answer.ts'
import { renameIn } from './rename.ts'

const THEN = '01a1f3d5-da25-7d41-928a-e81d176cb7b7'
const NOW = '01a1f3d5-fceb-7600-885e-1b9cf331624e'
const NAMES = new Map([
  [THEN, NOW],
  ['12', '3456'],
])

const answer = (type: string, texts: readonly string[]): PlayedAnswer => ({
  status: 200,
  headers: [['Content-Type', type]],
  frames: texts.map((text, at) => [at * 10, Buffer.from(text)] as const),
  isBroken: false,
  from: 'tape',
})
const textOf = ({ frames }: PlayedAnswer): string =>
  Buffer.concat(frames.map(([, bytes]) => bytes)).toString()
const delta = (index: number, partial_json: string): string =>
  `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } })}\n\n`

describe("this run's ids in a recorded answer", () => {
  it('replaces whole names in a JSON answer', () => {
    const renamed = renameIn(
      answer('application/json', [`{"ids":["${THEN}"],"pid":"12 of 123, x12`, '"}']),
      NAMES,
    )
    expect(textOf(renamed)).toBe(`{"ids":["${NOW}"],"pid":"3456 of 123, x12"}`)
  })

  it('finds a name that a stream cut, beside another block, and keeps times and frames', () => {
    const stream = [
      delta(1, `{"ids":["${THEN.slice(0, 9)}`),
      delta(2, '{"pid":1'),
      delta(1, THEN.slice(9, 20)),
      delta(1, `${THEN.slice(20)}"]}`),
      delta(2, '2}'),
      'data: [DONE]\n\n',
    ]
    const renamed = renameIn(answer('text/event-stream; charset=utf-8', stream), NAMES)
    expect(renamed.frames.map(([ms]) => ms)).toEqual([0, 10, 20, 30, 40, 50])
    const pieces = textOf(renamed)
      .split('\n\n')
      .flatMap((event) => /data: (\{.*)/.exec(event)?.[1] ?? [])
      .map((text) => JSON.parse(text) as { index: number; delta: { partial_json: string } })
    const joined = (index: number): string =>
      pieces.flatMap((one) => (one.index === index ? one.delta.partial_json : [])).join('')
    expect([joined(1), joined(2)]).toEqual([`{"ids":["${NOW}"]}`, '{"pid":3456}'])
    expect(textOf(renamed)).toContain('data: [DONE]\n\n')
  })

  it('reads events whatever frames they came in', () => {
    const text = delta(0, THEN) + delta(0, ' é')
    const bytes = Buffer.from(text)
    const cut = {
      ...answer('text/event-stream', []),
      frames: [...bytes].map((byte, at) => [at, Buffer.from([byte])] as const),
    }
    const renamed = renameIn(cut, NAMES)
    expect(textOf(renamed)).toBe(text.replace(THEN, NOW))
    expect(renamed.frames.map(([ms]) => ms)).toEqual([0, Buffer.byteLength(delta(0, THEN))])
  })

  it('is the very answer where no name is in it, or where it is neither JSON nor events', () => {
    for (const [type, text] of [
      ['text/event-stream', delta(0, 'nothing of ours')],
      ['application/json', '{"n":123}'],
      ['application/vnd.amazon.eventstream', THEN],
      ['text/plain', THEN],
    ] as const) {
      const kept = answer(type, [text])
      expect(renameIn(kept, NAMES)).toBe(kept)
      expect(renameIn(kept, new Map())).toBe(kept)
    }
  })
})
