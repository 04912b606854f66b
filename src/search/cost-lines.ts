/** The lines of a log that may tell of a call, one after the other: by WebAssembly where that is to be had, and else without it. */
import type { JsonObject } from '../transcript/json.ts'
import { AT, createSkimmer, MOST_DEPTH, OF_LINE, OF_MESSAGE } from './cost-skim.ts'
import { readCountAt, readUsage } from './cost-usage.ts'
import { FOUND } from './skimmed-lines-code.ts'
import { createSkimmedLines, PADDING } from './skimmed-lines.ts'

export type AnswerLines = {
  /** The next line with the word `"assistant"` in it, from one that begins there on: one of `FOUND`. */
  next(at: number): number
  /** Where the values of the last line begin, by their place in `AT`, with their quotes; -1 for one that is not there. */
  readonly starts: Int32Array
  /** Where those end that are there. */
  readonly ends: Int32Array
  /** Where the last line ends. */
  end(): number
  /** The usage of the last line, where there is one and it is a usual one: at least all that makes a cost. */
  usage(): JsonObject | undefined
}

export type LineSkimmer = {
  /** What a log is read into: at least so many bytes, the first of which are those of the room given before. */
  room(length: number): Buffer
  /** Of bytes that are the room's first, with ends of lines in the last `PADDING`. */
  lines(bytes: Buffer): AnswerLines
}

/** `odd`: names at the top of a line that make it one to be read whole. */
export function createLineSkimmer(odd: readonly string[], isPlain = false): LineSkimmer {
  return (isPlain ? undefined : createFast(odd)) ?? createPlain(odd)
}

/** Behind those of `AT`. */
const COUNT = {
  input: 11,
  output: 12,
  written: 13,
  read: 14,
  split: 15,
  fiveMinutes: 16,
  oneHour: 17,
  unusual: 18,
} as const

const USAGE = {
  place: AT.usage,
  counts: [
    ['input_tokens', COUNT.input],
    ['output_tokens', COUNT.output],
    ['cache_creation_input_tokens', COUNT.written],
    ['cache_read_input_tokens', COUNT.read],
    ['cache_creation', COUNT.split],
  ],
  split: COUNT.split,
  splitCounts: [
    ['ephemeral_5m_input_tokens', COUNT.fiveMinutes],
    ['ephemeral_1h_input_tokens', COUNT.oneHour],
  ],
  unusual: COUNT.unusual,
  unusualNames: ['iterations', 'output_tokens_details', 'serviceTier'],
  // Other tiers and places have other prices.
  usualWords: [
    ['service_tier', ['"standard"', 'null']],
    ['speed', ['"standard"', 'null']],
    ['inference_geo', ['"not_available"', '""', '"global"', 'null']],
  ],
} as const

/**
 * What a usage says that has all counts which Claude Code writes, each a plain number, at the usual price: nearly every one. Undefined
 * for any other. Of what it says besides, nothing makes a cost.
 */
function countsOf(bytes: Buffer, starts: Int32Array): JsonObject | undefined {
  if (starts[COUNT.unusual] !== -1 || bytes[starts[AT.usage] as number] !== OPEN) return undefined
  const at = (place: number): number => readCountAt(bytes, starts[place] as number)
  const [input, output, written, read] = [
    at(COUNT.input),
    at(COUNT.output),
    at(COUNT.written),
    at(COUNT.read),
  ]
  const split = starts[COUNT.split] as number
  const [five, hour] = [at(COUNT.fiveMinutes), at(COUNT.oneHour)]
  if (input < 0 || output < 0 || written < 0 || read < 0) return undefined
  if (split === -1 || bytes[split] !== OPEN || five < 0 || hour < 0) return undefined
  return {
    input_tokens: input,
    output_tokens: output,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    cache_creation: { ephemeral_5m_input_tokens: five, ephemeral_1h_input_tokens: hour },
  }
}

const OPEN = 0x7b

function createFast(odd: readonly string[]): LineSkimmer | undefined {
  const skimmed = createSkimmedLines({
    ofLine: OF_LINE,
    ofMessage: OF_MESSAGE,
    odd,
    message: AT.message,
    mostDepth: MOST_DEPTH,
    usage: USAGE,
  })
  if (skimmed === undefined) return undefined
  return {
    room: (length) => skimmed.room(length),
    lines(bytes) {
      const [starts, ends] = [skimmed.starts(), skimmed.ends()]
      return {
        next: (at) => skimmed.next(at, bytes.length - PADDING),
        starts,
        ends,
        end: () => skimmed.end(),
        usage() {
          const from = starts[AT.usage] as number
          return from < 0 ? undefined : (countsOf(bytes, starts) ?? readUsage(bytes, from))
        },
      }
    },
  }
}

const [NEWLINE, RETURN] = [0x0a, 0x0d] as const

function createPlain(odd: readonly string[]): LineSkimmer {
  const { skim, starts, ends, isOdd, usage } = createSkimmer(new Set(odd))
  let room = Buffer.alloc(0)
  return {
    room(length) {
      const larger = Buffer.allocUnsafe(length + PADDING)
      room.copy(larger)
      room = larger
      return room
    },
    lines(bytes) {
      let end = 0
      return {
        next(at) {
          const found = nextAssistant(bytes, at)
          if (found === -1) return FOUND.none
          const from = bytes.lastIndexOf(NEWLINE, found) + 1
          end = bytes.indexOf(NEWLINE, found)
          if (!skim(bytes, from, bytes[end - 1] === RETURN ? end - 1 : end)) return FOUND.refused
          return isOdd() ? FOUND.odd : FOUND.line
        },
        starts,
        ends,
        end: () => end,
        usage,
      }
    },
  }
}

/** No more than seven bytes: of so few, the first is looked for by the processor's own means, and quotes are far apart. */
const ASSISTANT = Buffer.from('"assist')
const REST = Buffer.from('ant"')

function nextAssistant(bytes: Buffer, from: number): number {
  let at = bytes.indexOf(ASSISTANT, from)
  while (
    at !== -1 &&
    bytes.compare(REST, 0, REST.length, at + ASSISTANT.length, at + ASSISTANT.length + REST.length) !== 0
  )
    at = bytes.indexOf(ASSISTANT, at + 1)
  return at
}
