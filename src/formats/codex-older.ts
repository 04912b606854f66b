/**
 * What older versions of a rollout called its calls, and which totals they state. Calls are named by their place, so a rollout that was cut
 * and goes on would give new calls the names of those that are lost, and count again what was counted there.
 */
import type { Source, SourceFile } from '../transcript/source.ts'
import { hashText } from '../transcript/text-hash.ts'
import { createCodexFacts } from './codex-facts.ts'
import { createLineFold, renamedCall } from './codex-fold.ts'
import { statedTotal } from './codex-usage.ts'
import { readInOrder } from './in-order.ts'

export type OlderCalls = {
  /** The thread that the newest of them names. */
  readonly thread: string | undefined
  /** What the call of a line was called there; of several calls with the same line, the first whose name is free. */
  nameOf(text: string, isFree: (name: string) => boolean): string | undefined
  /** What the call was called that made the total this. */
  nameOfTotal(total: string): string | undefined
  isTaken(name: string): boolean
}

/** One version, and those before it. */
type Version = {
  readonly before: Version | undefined
  readonly thread: string | undefined
  /** By the hash of a line. In older rollouts lines have no times: several calls may begin with the same. */
  readonly names: Map<number, string | readonly string[]>
  readonly totals: Map<string, string>
  readonly taken: Set<string>
  /** Lines that are remembered of it and of those before. */
  readonly held: number
}

/** Lines whose calls are remembered, of all versions: some 20 MB. Others go by their place, as in a rollout that was never cut. */
const MOST_NAMES = 200_000
/** Of one line: each is looked at whenever it comes again. */
const MOST_OF_A_LINE = 100

/** Versions are read several times over; what they are called stays as it is. By the source of the newest of them. */
const known = new WeakMap<Source, Map<string, Promise<Version>>>()

/** Sources from the oldest on. Undefined where the file is in none of them. */
export async function readOlderCalls(
  older: readonly Source[],
  path: string,
  nameInPath: string | undefined,
): Promise<OlderCalls | undefined> {
  let version: Version | undefined
  for (const source of older) {
    const file = (await source.list()).find((one) => one.path === path)
    if (file === undefined) continue
    const paths = known.get(source) ?? new Map<string, Promise<Version>>()
    known.set(source, paths)
    const reading: Promise<Version> = paths.get(path) ?? readVersion(file, version, nameInPath)
    paths.set(path, reading)
    version = await reading
  }
  return version && toOlder(version)
}

function toOlder(newest: Version): OlderCalls {
  const find = <T>(of: (version: Version) => T | undefined): T | undefined => {
    for (let at: Version | undefined = newest; at !== undefined; at = at.before) {
      const found = of(at)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    thread: find(({ thread }) => thread),
    nameOf(text, isFree) {
      const hash = hashText(text)
      return find(({ names }) => [names.get(hash) ?? []].flat().find(isFree))
    },
    nameOfTotal: (total) => find(({ totals }) => totals.get(total)),
    isTaken: (name) => find(({ taken }) => taken.has(name) || undefined) === true,
  }
}

async function readVersion(
  file: SourceFile,
  before: Version | undefined,
  nameInPath: string | undefined,
): Promise<Version> {
  const older = before && toOlder(before)
  const facts = createCodexFacts()
  const names: Version['names'] = new Map()
  const taken = new Set<string>()
  const totals = new Map<string, string>()
  let held = before?.held ?? 0
  const note = (text: string, name: string): void => {
    const hash = hashText(text)
    const known = [names.get(hash) ?? []].flat()
    held += 1
    taken.add(name)
    // A call's lines come one after the other.
    if (known.at(-1) === name || known.length >= MOST_OF_A_LINE) return
    names.set(hash, known.length === 0 ? name : [...known, name])
  }
  const rename = (renamed: readonly [string, string]): void => {
    for (const [hash, name] of names)
      names.set(
        hash,
        typeof name === 'string' ? renamedCall(name, renamed) : name.map((one) => renamedCall(one, renamed)),
      )
    const all = [...taken]
    taken.clear()
    for (const name of all) taken.add(renamedCall(name, renamed))
  }
  let isNamed = false
  let isWhole = true
  const thread = (): string | undefined => (isNamed ? facts.thread : (older?.thread ?? nameInPath))
  const fold = createLineFold(facts, thread, { isWhole: () => isWhole, older })
  for await (const steps of readInOrder(file)) {
    for (const step of steps) {
      if ('damage' in step) {
        isWhole = false
        continue
      }
      const { value, text, number } = step.record
      const { line, count, renamed } = fold.next(value, text)
      if (number === 1) isNamed = facts.thread !== undefined
      if (renamed !== undefined) rename(renamed)
      const name = (count ?? line).call?.messageId
      if (name === undefined || held >= MOST_NAMES) continue
      note(text, name)
      const total = statedTotal(value)
      if (total !== undefined && !totals.has(total)) totals.set(total, name)
    }
  }
  return {
    before,
    thread: isNamed ? facts.thread : undefined,
    names,
    totals,
    taken,
    held,
  }
}
