/** How long a chunk of a stream is on its way: through the proxy, through a bare tee, and straight from the provider. */
import { atMost, median, quantile, type Result } from './measure.ts'
import { ask, type Way, type Ways } from './proxy-load.ts'

/** By way, and by round. */
type Rounds = Readonly<Record<string, readonly (readonly number[])[]>>

/** A chunk of a fast model every so many milliseconds. */
const MODEL_MS = 20
/** At once through each way, each begun in the middle between others' chunks, and how long they are. */
const MODEL_STREAMS = 4
const MODEL_SECONDS = 2
/** Rounds that do not count: until then V8 compiles what they run through, in all processes alike. */
const WARM_ROUNDS = 3

/**
 * How long each chunk is on its way, in milliseconds: it says when it was sent, by a clock that all processes of a machine share. One way
 * at a time and turn about, so that what is measured has the machine to itself and what else it does hits all ways alike. Of each stream
 * from the second chunk on: the first comes with the head, and has a row of its own. By way, and by round.
 */
export async function modelDelays(ways: Ways, rounds: number): Promise<Rounds> {
  const delays: Record<string, number[][]> = {}
  const stream = async (way: Way, n: number, into: number[]): Promise<void> => {
    await pause((n * MODEL_MS) / MODEL_STREAMS)
    const chunks = (MODEL_SECONDS * 1000) / MODEL_MS
    await ask(way, 2000, { agentAt: 900 + n, chunks, every: MODEL_MS, onChunk: toDelays(into) })
  }
  for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const own = Array.from({ length: MODEL_STREAMS }, (): number[] => [])
      await Promise.all(own.map((into, n) => stream(way, n, into)))
      if (round >= 0) (delays[name] ??= []).push(own.flatMap((into) => into.slice(1)))
      // What is recorded of it takes a moment longer.
      await pause(100)
    }
  }
  return delays
}

/** The same of one stream at a time, a chunk every millisecond. */
export async function burstDelays(ways: Ways, count: number): Promise<Rounds> {
  const delays: Record<string, number[][]> = {}
  const rounds = 10
  for (let round = 0; round < rounds; round += 1)
    for (const [name, way] of Object.entries(ways)) {
      const into: number[] = []
      await ask(way, 2000, { chunks: count / rounds, every: 1, onChunk: toDelays(into) })
      ;(delays[name] ??= []).push(into)
    }
  return delays
}

function toDelays(delays: number[]): (chunk: Buffer) => void {
  return (chunk) => {
    const now = process.hrtime.bigint()
    for (const [, sent] of chunk.toString().matchAll(/"text":"(\d{10,}) "/g))
      delays.push(Number(now - BigInt(sent as string)) / 1e6)
  }
}

/**
 * What a way adds is the median of what it adds in each round, against the direct round right before it; in a round all chunks count. One
 * more process on the way is one more that waits whenever something else has the processor, its machine's host included: where that is so
 * for one chunk in a hundred, all rounds together say how often it was, and not what the way costs. They stand beside it, as does a bare
 * tee by the same measure, and the calmest round: what else a machine does only ever adds.
 */
export function chunkRow(model: Rounds, burst: Rounds): Result {
  const at = (delays: Rounds, way: string, part: number): number[] =>
    (delays[way] ?? []).map((round) => quantile(round, part))
  const added = (delays: Rounds, way: string, part: number): number => {
    const direct = at(delays, 'direct', part)
    return median(at(delays, way, part).map((value, round) => value - (direct[round] ?? Number.NaN)))
  }
  const all = (way: string): number => quantile(model[way]?.flat() ?? [], 0.99)
  const calmest = (way: string): number => Math.min(...at(model, way, 0.99))
  const both = (of: (way: string) => number): string =>
    ['ours', 'tee'].map((way) => of(way).toFixed(2)).join(', the tee ')
  const detail =
    `ms; direct p99 ${median(at(model, 'direct', 0.99)).toFixed(2)}, a bare tee adds ${added(model, 'tee', 0.99).toFixed(2)}; at ` +
    `p50 we add ${both((way) => added(model, way, 0.5))}; at p99 of all rounds together ${both((way) => all(way) - all('direct'))}; ` +
    `of the calmest ${both((way) => calmest(way) - calmest('direct'))}; a chunk every ms: ${both((way) => added(burst, way, 0.99))}`
  return atMost(
    'each chunk of a stream as a model gives it, added at p99',
    added(model, 'ours', 0.99),
    0.3,
    detail,
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms))
}
