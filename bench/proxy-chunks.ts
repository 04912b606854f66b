/**
 * How long a chunk of a stream is on its way: through the proxy, through a bare tee, and straight from the provider. Whoever sends and
 * receives is one process, as with testers of network devices: a provider is another machine, and the only process that has to be woken
 * up for a chunk should be the one that is measured. With three of them, Linux puts the last on a processor that sleeps while the first
 * is still about to end its turn, and what is measured is how long the machine's host takes to wake that up.
 */
import type { AddressInfo } from 'node:net'
import { atMost, median, quantile, type Result } from './measure.ts'
import { ask, type Way, type Ways } from './proxy-load.ts'
import { provider } from './proxy-provider.ts'

/** By way, and by round. */
type Rounds = Readonly<Record<string, readonly (readonly number[])[]>>

/** A chunk of a fast model every so many milliseconds. */
const MODEL_MS = 20
/** At once through each way, each begun in the middle between others' chunks, and how long they are. */
const MODEL_STREAMS = 4
const MODEL_SECONDS = 2
/**
 * What does not count: until then V8 compiles what chunks run through, a few milliseconds at a time on a processor that one of them may
 * need, in all processes alike. Streams one after the other, as many chunks at once as a minute and a half of such streams have, and rounds.
 */
const WARM_STREAMS = 600
const WARM_CHUNKS = 4000
const WARM_ROUNDS = 3

export type Model = { readonly url: string; close(): void }

/** A provider here. */
export async function startModel(): Promise<Model> {
  const server = provider('model_')
  server.keepAliveTimeout = 60_000
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/**
 * How long each chunk is on its way, in milliseconds: it says when it was sent, by a clock that all processes of a machine share. One way
 * at a time and turn about, so that what is measured has the machine to itself and what else it does hits all ways alike. Of each stream
 * from the second chunk on: the first comes with the head, and has a row of its own. By way, and by round.
 */
export async function modelDelays(ways: Ways, rounds: number): Promise<Rounds> {
  const delays: Record<string, number[][]> = {}
  const stream = async (way: Way, n: number, into: number[]): Promise<void> => {
    const phase = (n * MODEL_MS) / MODEL_STREAMS
    await pause(phase)
    const chunks = (MODEL_SECONDS * 1000) / MODEL_MS
    await ask(way, 2000, { agentAt: 900 + n, chunks, every: MODEL_MS, phase, onChunk: toDelays(into) })
  }
  for (const way of Object.values(ways)) await warmUp(way)
  for (let round = -WARM_ROUNDS; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const own = Array.from({ length: MODEL_STREAMS }, (): number[] => [])
      globalThis.gc?.()
      await Promise.all(own.map((into, n) => stream(way, n, into)))
      if (round >= 0) (delays[name] ??= []).push(own.flatMap((into) => into.slice(1)))
      // What is recorded of it takes a moment longer.
      await pause(100)
    }
  }
  return delays
}

async function warmUp(way: Way): Promise<void> {
  for (let n = 0; n < WARM_STREAMS; n += 1)
    await ask(way, 2000, { agentAt: 900 + (n % MODEL_STREAMS), chunks: 5 })
  const streams = Array.from({ length: MODEL_STREAMS }, (_, n) =>
    ask(way, 2000, { agentAt: 900 + n, chunks: WARM_CHUNKS, every: 1, phase: 0 }),
  )
  await Promise.all(streams)
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

const TEXT = '"text":"'
const ZERO = 48

/** Without anything that has to be collected: the client should take as little of the machine as it can. */
function toDelays(delays: number[]): (chunk: Buffer) => void {
  return (chunk) => {
    const now = performance.now() + SINCE
    for (let at = chunk.indexOf(TEXT); at !== -1; at = chunk.indexOf(TEXT, at)) {
      let sent = 0
      for (at += TEXT.length; isDigit(chunk[at]); at += 1) sent = sent * 10 + (chunk[at] as number) - ZERO
      if (sent > 0) delays.push(now - sent / 1e6)
    }
  }
}

/** What `process.hrtime` says more than `performance.now`, in milliseconds. */
const SINCE = sinceWhen()

/** The least of a few: the first time that a clock is asked takes longer. */
function sinceWhen(): number {
  return Math.min(
    ...Array.from({ length: 10 }, () => {
      const now = performance.now()
      return Number(process.hrtime.bigint()) / 1e6 - now
    }),
  )
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte < ZERO + 10
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
