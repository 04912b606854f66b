/**
 * A log that is read on as it grows, against the whole of it read at each of these moments: what the list is told of it, call by call,
 * and what its calls come to.
 */
import { basename } from 'node:path/posix'
import type { Format } from '../src/formats/format.ts'
import { createRunningBill } from '../src/sources/running-bill.ts'
import type { Call, UnitFacts } from '../src/sources/session-facts.ts'
import { createCallPacker, type OwnBill } from '../src/sources/state-own-bill.ts'
import { billOf } from '../src/sources/state-readings.ts'
import { createUnitReading } from '../src/sources/unit-facts.ts'
import { hasCounts } from '../src/transcript/usage.ts'
import { memoryFileSource, memorySource } from './memory-files.ts'
import { createRandom } from './random.ts'

/** What a session is called, and what its entries without a model go by, is told by what is read first of its log. */
const CHUNK_BYTES = 4096

/** The files of a unit at one moment. Each only grows from one to the next, by whole lines. */
export type Moment = ReadonlyMap<string, Buffer>

export type FollowedCheck = {
  /** Moments at which reading on was sure of what it said. */
  readonly sure: number
  /** Of these, those at which it said something else than reading the whole. */
  readonly differing: readonly string[]
}

export async function checkFollowed(format: Format, moments: readonly Moment[]): Promise<FollowedCheck> {
  const calls = new Map<string, Call>()
  let keyless: Call[] = []
  const bill = createRunningBill()
  const told = createUnitReading((some) => some.forEach(take), 'unit', {
    isFollowed: true,
    onSettled: (call) => bill.settle(call),
  })
  const take = (call: Call): void => {
    const { key } = call
    if (key === undefined) keyless.push(call)
    else if (hasCounts(call.usage) || !hasCounts(calls.get(key)?.usage ?? NOTHING)) calls.set(key, call)
  }
  let following = await format.follow?.(sourceOf(moments[0] ?? new Map()), {
    drift: told.drift,
    isForFacts: true,
  })
  let before: Moment = new Map()
  let sure = 0
  const differing: string[] = []
  for (const [at, moment] of moments.entries()) {
    if (following === undefined) break
    const added = [...moment].flatMap(([path, bytes]) => {
      const from = before.get(path)?.length
      return from === bytes.length ? [] : [fileOf(path, bytes.subarray(from ?? 0))]
    })
    before = moment
    for await (const items of following.more(added)) told.add(items)
    const facts = following.isSure() ? told.now(moment.size > 1) : undefined
    // As whoever follows it does: what is not sure is let go of.
    if (facts === undefined) following = undefined
    else {
      sure += 1
      const whole = await readWhole(format, moment)
      const own = bill.now(told.openCalls())
      const now = toWords(facts, [...calls.values(), ...keyless], own)
      const then = toWords(whole.facts, whole.calls, own && whole.bill)
      if (now !== then) differing.push(`moment ${at}:\n${firstDifference(now, then)}`)
    }
  }
  keyless = []
  told.close()
  return { sure, differing }
}

const NOTHING = { quality: 'unavailable' } as const

type Whole = {
  readonly facts: UnitFacts
  readonly calls: readonly Call[]
  readonly bill: OwnBill | undefined
}

async function readWhole(format: Format, moment: Moment): Promise<Whole> {
  const calls: Call[] = []
  const told = createUnitReading((some) => void calls.push(...some), 'unit')
  for await (const items of format.read(sourceOf(moment), { drift: told.drift, isForFacts: true }))
    told.add(items)
  const facts = told.end()
  told.close()
  const packer = createCallPacker()
  packer.pack(calls)
  return { facts, calls, bill: billOf(packer.bills(), facts.sessions[0]?.key ?? '') }
}

function sourceOf(moment: Moment): ReturnType<typeof memorySource> {
  const [[path, bytes] = ['none', Buffer.alloc(0)]] = moment
  return moment.size === 1
    ? memoryFileSource(basename(path), bytes, { chunkBytes: CHUNK_BYTES })
    : memorySource(moment, { chunkBytes: CHUNK_BYTES })
}

function fileOf(path: string, bytes: Buffer): Parameters<NonNullable<Following>['more']>[0][number] {
  const source = memoryFileSource(path, bytes, { chunkBytes: CHUNK_BYTES })
  return {
    path,
    sizeBytes: bytes.length,
    modifiedAt: '2026-01-01T00:00:00.000Z',
    head: async (most) => bytes.subarray(0, most),
    async *chunks() {
      for (const file of await source.list()) yield* file.chunks()
    },
    bytes: async () => bytes,
  }
}

type Following = Awaited<ReturnType<NonNullable<Format['follow']>>>

/** In no order but that of names: which file was read first is no fact. */
function toWords(
  { sessions, ...rest }: UnitFacts,
  calls: readonly Call[],
  bill: OwnBill | undefined,
): string {
  const told = sessions.map(({ work, session, ...one }) => {
    const { totals, ...said } = session
    const models = totals?.models?.toSorted() ?? []
    const { parts, sources, tools, findings, files, rest: left, ...did } = work
    const lists = [parts, sources, tools, findings.map((one) => toJson(one))].map((list) => list.toSorted())
    return [
      one,
      said,
      { ...totals, models },
      did,
      ...lists,
      Object.entries(files)
        .map(([path, ways]) => [path, inOrder(ways)] as const)
        .toSorted(byName),
      Object.entries(left).toSorted(byName),
    ]
  })
  const sums = bill && [
    bill.sums,
    bill.unpriced,
    [...bill.tools].toSorted(byName),
    bill.slots.map(toJson).toSorted(),
  ]
  const lists = [rest.mentions, rest.drift, calls].map((list) => list.map((one) => toJson(one)).toSorted())
  return [...told, rest.damage, ...lists.flat(), sums ?? null].map(toJson).join('\n')
}

const inOrder = (letters: string): string => letters.split('').toSorted().join('')
const byName = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : 1

function toJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one))
}

function firstDifference(now: string, whole: string): string {
  const lines = whole.split('\n')
  const at = now.split('\n').findIndex((line, n) => line !== lines[n])
  return `  read on: ${now.split('\n')[at]}\n  whole:   ${lines[at]}`
}

/**
 * Files that grew to what they are: the session's own log (`main`) from the first moment on, when it was long already, others from any;
 * whatever has lines by whole lines, all else at once.
 */
export function grownTo(files: Moment, main: string, moments: number, seed: number): readonly Moment[] {
  const random = createRandom(seed)
  const begins = new Map([...files.keys()].map((path) => [path, path === main ? 0 : random(1000) / 1250]))
  return Array.from({ length: moments }, (_, n) => {
    const time = (n + 1) / moments
    const there = [...files].flatMap(([path, bytes]): [string, Buffer][] => {
      const begin = begins.get(path) ?? 0
      if (time < begin) return []
      if (!path.endsWith('.jsonl')) return [[path, bytes]]
      const part = time === 1 ? 1 : Math.min(1, ((time - begin) / (1 - begin)) * (0.5 + random(1000) / 1000))
      const least = path === main ? 2 * CHUNK_BYTES : 0
      const end = bytes.lastIndexOf(0x0a, Math.max(least, Math.floor(part * bytes.length))) + 1
      return end === 0 && path !== main ? [] : [[path, bytes.subarray(0, end)]]
    })
    return new Map(there)
  }).reduce<Moment[]>((all, moment) => [...all, notShorter(moment, all.at(-1))], [])
}

function notShorter(moment: Moment, before: Moment = new Map()): Moment {
  const longer = [...moment].filter(([path, bytes]) => bytes.length > (before.get(path)?.length ?? -1))
  return new Map([...before, ...longer])
}
