/** Streams for the tests of src/wire: events as a provider would write them, pushed in pieces of any size. */
import { expect } from 'vitest'
import type { Json } from '../src/transcript/json.ts'
import type { Reassembly, WireMessage } from '../src/wire/message.ts'
import { createSseParser, type SseEvent, type SseParser } from '../src/wire/sse.ts'

/** Named by their own `type`, as Anthropic and the Responses API do; a string is written as it is. */
export function toSse(events: readonly Json[], end = '\n'): Buffer {
  const text = events.map((event) => {
    const type = typeof event === 'object' && event !== null && 'type' in event ? event.type : undefined
    const name = typeof type === 'string' ? `event: ${type}${end}` : ''
    return `${name}data: ${typeof event === 'string' ? event : JSON.stringify(event)}${end}${end}`
  })
  return Buffer.from(text.join(''))
}

/** All events of the bytes, cut at the places given. */
export function parseCut(parser: SseParser, bytes: Buffer, cuts: readonly number[]): SseEvent[] {
  const events: SseEvent[] = []
  let from = 0
  for (const to of [...cuts, bytes.length]) {
    for (const event of parser.push(bytes.subarray(from, to))) events.push(event)
    from = to
  }
  for (const event of parser.end()) events.push(event)
  return events
}

export function reassemble(
  create: () => Reassembly,
  bytes: Buffer,
  cuts: readonly number[] = [],
  parser: SseParser = createSseParser(),
): WireMessage {
  const reassembly = create()
  for (const event of parseCut(parser, bytes, cuts)) reassembly.push(event)
  return reassembly.end()
}

/** The message is the same whole, cut in two at every byte, and byte by byte. */
export function expectSameHoweverCut(
  create: () => Reassembly,
  bytes: Buffer,
  createParser: () => SseParser = createSseParser,
): void {
  const whole = reassemble(create, bytes, [], createParser())
  const text = JSON.stringify(whole)
  for (let at = 1; at < bytes.length; at += 1) {
    const cut = reassemble(create, bytes, [at], createParser())
    // Thousands of deep comparisons would be most of the test's time.
    if (JSON.stringify(cut) !== text) expect(cut, `cut at ${at}`).toEqual(whole)
  }
  const everyByte = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1)
  expect(reassemble(create, bytes, everyByte, createParser())).toEqual(whole)
}

/** Milliseconds of processor, the best of a few: what other programs do meanwhile only adds. */
export function bestOf(runs: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY
  for (let run = 0; run < runs; run += 1) {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1000)
  }
  return best
}
