import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../../test/arbitrary.ts'
import { PRIMARY, type Entry } from '../../transcript/entry.ts'
import type { TapeJson } from '../../wire/tape.ts'
import { createAsciicast } from './asciicast.ts'
import { deltasOf } from './cadence.ts'
import { createTimeline } from './timeline.ts'

const entry = (sequence: number, at: string | undefined, more: Partial<Entry> = {}): Entry => ({
  id: `e${sequence}`,
  source: PRIMARY,
  sequence,
  kind: 'message',
  role: 'user',
  ...(at !== undefined && { at }),
  blocks: [{ type: 'text', text: 'go' }],
  ...more,
})

describe('a session in time', () => {
  it('waits as long as it was, scaled, and no longer than asked for', () => {
    const next = createTimeline({ speed: 2, idleMs: 10_000 })
    expect(next(entry(0, '2026-01-01T00:00:00Z'))).toMatchObject({ waitMs: 0, elapsedMs: 0 })
    expect(next(entry(1, '2026-01-01T00:00:03Z'))).toMatchObject({
      gapMs: 3000,
      waitMs: 1500,
      isShortened: false,
    })
    expect(next(entry(2, '2026-01-01T01:00:03Z'))).toMatchObject({
      gapMs: 3_600_000,
      waitMs: 5000,
      isShortened: true,
      elapsedMs: 3_603_000,
    })
  })

  it('never runs backwards, and passes over what has no time', () => {
    const next = createTimeline({ speed: 1, idleMs: Infinity })
    const times = [
      '2026-01-01T00:00:05Z',
      '2026-01-01T00:00:01Z',
      undefined,
      'garbage',
      '2026-01-01T00:00:06Z',
    ]
    expect(times.map((at, n) => next(entry(n, at)).gapMs)).toEqual([0, 0, 0, 0, 1000])
  })

  it('marks prompts, tools, edits and errors', () => {
    const next = createTimeline({ speed: 1, idleMs: 1 })
    expect(next(entry(0, undefined)).marks).toEqual(['prompt'])
    const edit = entry(1, undefined, {
      role: 'assistant',
      blocks: [{ type: 'tool-call', name: 'Edit', input: { file_path: 'a' } }],
    })
    expect(next(edit).marks).toEqual(['tool', 'edit'])
    const failed = entry(2, undefined, { role: 'tool', blocks: [{ type: 'tool-result', isError: true }] })
    expect(next(failed).marks).toEqual(['tool', 'error'])
  })
})

it('gives a player no control characters in the title', () => {
  const header: unknown = JSON.parse(
    createAsciicast().begin({ id: 'a', status: 'completed', title: 'a\u001b]0;b\u0007\nc' }),
  )
  expect(header).toMatchObject({ title: String.raw`a\x1b]0;b\x07\nc` })
})

describe('how an answer was typed', () => {
  const tape = (events: readonly (readonly [number, string])[], more: Partial<TapeJson> = {}): TapeJson => ({
    v: 1,
    call: 'c',
    status: 200,
    headers: [['content-type', 'text/event-stream']],
    chunks: events.map(([ms, text]) => [ms, Buffer.from(text).toString('base64')]),
    ...more,
  })

  it.each([
    ['Anthropic', { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } }],
    ['OpenAI chat', { choices: [{ index: 0, delta: { content: 'hi' } }] }],
    ['OpenAI responses', { type: 'response.output_text.delta', delta: 'hi' }],
    ['Gemini', { candidates: [{ content: { parts: [{ text: 'no', thought: true }, { text: 'hi' }] } }] }],
  ])('is read from a stream of %s', (_, event) => {
    expect(deltasOf(tape([[12, `data: ${JSON.stringify(event)}\n\n`]]))).toEqual([{ ms: 12, text: 'hi' }])
  })

  it('is put together across chunks, each with the time when its text was whole', () => {
    const data = `data: ${JSON.stringify({ choices: [{ delta: { content: 'hé' } }] })}\n\n`
    const bytes = Buffer.from(data)
    const at = data.indexOf('é') + 1
    const split = tape([])
    const chunks = [
      [1, bytes.subarray(0, at).toString('base64')],
      [5, bytes.subarray(at).toString('base64')],
    ] as const
    expect(deltasOf({ ...split, chunks })).toEqual([{ ms: 5, text: 'hé' }])
  })

  it('is not known of what was packed', () => {
    expect(deltasOf(tape([[1, 'data: {}\n\n']], { headers: [['content-encoding', 'gzip']] }))).toEqual([])
  })
})

describe('a recording of a terminal', () => {
  it('is a header and events of three, whose times add up to those of the session', () => {
    fc.assert(
      fc.property(transcript, ({ session, entries }) => {
        const cast = createAsciicast()
        const next = createTimeline({ speed: 1, idleMs: Infinity })
        let waited = 0
        let text = cast.begin(session)
        for (const [n, each] of entries.entries()) {
          const frame = next(each)
          waited += frame.gapMs
          // Some entries show nothing by themselves.
          text += cast.frame(frame, n % 3 === 0 ? '' : `${n}\nline\n`)
        }
        text += cast.end(session)
        const [header, ...events] = text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown)
        expect(header).toMatchObject({ version: 3, term: { cols: 100, rows: 30 } })
        let seconds = 0
        for (const event of events as [number, string, string][]) {
          expect(event).toHaveLength(3)
          expect(event[0]).toBeGreaterThanOrEqual(0)
          expect(['o', 'm', 'x']).toContain(event[1])
          if (event[1] === 'o') expect(event[2]).not.toMatch(/[^\r]\n/)
          seconds += event[0]
        }
        expect(Math.abs(seconds - waited / 1000)).toBeLessThan(0.001)
      }),
    )
  })
})
