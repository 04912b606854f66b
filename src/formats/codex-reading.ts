/**
 * A session out of one rollout, in the order of its lines. Each call's usage stands on the last thing the model said in it: those
 * entries are held until the count that follows them is read. Memory is a batch of lines and what is held.
 */
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { isObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { SourceFile } from '../transcript/source.ts'
import { CODEX, createCodexFacts, type FactsFold } from './codex-facts.ts'
import { createLineFold, renamedCall } from './codex-fold.ts'
import { isInjected } from './codex-injected.ts'
import { createCallLinks } from './codex-links.ts'
import { readOlderCalls, type OlderCalls } from './codex-older.ts'
import { surveyRollbacks, type RolledBack } from './codex-rollbacks.ts'
import { VOCABULARY, watchLine } from './codex-vocabulary.ts'
import { EXACT, exactNumbers } from './exact-numbers.ts'
import { createDriftWatch } from './drift.ts'
import type { ReadItem, ReadOptions } from './format.ts'
import { originOf, readInOrder, type Step } from './in-order.ts'
import { oversizedEntry } from './unknown.ts'

type Draft = { -readonly [K in keyof Entry]: Entry[K] }

/** Held back at most, in entries and in bytes of their lines: a hostile file may never count. */
const HELD = 500
const HELD_BYTES = 8 * 1024 * 1024

export type RolloutOptions = ReadOptions & {
  /** The thread that the file's name speaks of, for a file whose first line is lost. */
  readonly nameInPath: string | undefined
  /** The session of a thread, from what its lines say so far. */
  readonly toSession: (thread: string | undefined, facts: FactsFold) => Session
  /** Told at the end which threads this one started, each with the number of the entry that asked for it. */
  readonly onSpawns: (spawns: ReadonlyMap<string, number>) => void
}

export async function* readRollout(
  file: SourceFile,
  { onSpawns, ...options }: RolloutOptions,
): AsyncGenerator<readonly ReadItem[]> {
  const { older = [], nameInPath } = options
  const calls = older.length > 0 ? await readOlderCalls(older, file.path, nameInPath) : undefined
  const rollout = createRollout(file.path, options, {
    isRolledBack: await surveyRollbacks(file),
    older: calls,
  })
  yield* rollout.read(file)
  onSpawns(rollout.spawns)
  yield rollout.end()
}

export type Rollout = {
  /** A file, or what was added to it. */
  read(file: SourceFile): AsyncGenerator<readonly ReadItem[]>
  /** What was held back, and the session's facts: a count that comes after it stands on the line that says it. */
  end(): readonly ReadItem[]
  /** False until there was a count, which may rename the calls before it. */
  readonly hasCounts: boolean
  readonly spawns: ReadonlyMap<string, number>
}

type Surveyed = {
  /** Where nobody says, no line is marked so. */
  readonly isRolledBack?: RolledBack
  readonly older?: OlderCalls | undefined
}

/** `path`: of the file, or of the one that is added to. */
export function createRollout(
  path: string,
  { nameInPath, toSession, ...options }: Omit<RolloutOptions, 'onSpawns'>,
  { isRolledBack = () => false, older }: Surveyed = {},
): Rollout {
  const facts = createCodexFacts()
  const watch = createDriftWatch(VOCABULARY, options)
  const links = createCallLinks()
  let isNamed = false
  /** Line 1 names the thread; any later line may be a copy of another's. */
  const thread = (): string | undefined => (isNamed ? facts.thread : (older?.thread ?? nameInPath))
  let isWhole = true
  const lines = createLineFold(facts, thread, { isWhole: () => isWhole, older })
  /** Until the first count, which may rename the calls before it. */
  let isWaiting = true
  let queuedBytes = 0
  let queue: ReadItem[] = []
  let sequence = 0
  let isOpen = false
  /** The last thing that the model said in the call that is on, and its place in the queue. */
  let said: { readonly entry: Draft; readonly at: number; bytes: number } | undefined

  const take = (step: Step): void => {
    if ('damage' in step) {
      const { damage } = step
      isWhole = false
      queue.push({ type: 'damage', damage })
      if (damage.kind !== 'too-large') return
      const place = { format: CODEX, file: path, source: PRIMARY, sequence }
      queue.push({ type: 'entry', entry: oversizedEntry(damage, place) })
      sequence += 1
      return
    }
    const { value, byteLength, text } = step.record
    const { line, count, isBoundary, renamed } = lines.next(value, text)
    if (renamed !== undefined) renameCalls(queue, renamed)
    queuedBytes += byteLength
    if (watch !== undefined && isObject(value)) watchLine(watch, value, facts.version)
    if (step.record.number === 1 && !isOpen) isNamed = facts.thread !== undefined
    const entry: Draft = {
      id: `${PRIMARY}/${sequence}`,
      source: PRIMARY,
      sequence,
      ...line,
      origin: originOf(CODEX, path, step.record),
    }
    sequence += 1
    const noted = options.isForFacts === true ? undefined : exactNumbers(step.record.text)
    const marks = {
      ...(noted !== undefined && { [EXACT]: noted }),
      ...(isRolledBack(step.record.byteOffset) && { rolledBack: true }),
      ...(entry.role === 'user' && isInjected(entry.blocks) && { injected: true }),
    }
    if (Object.keys(marks).length > 0) entry.metadata = { ...entry.metadata, ...marks }
    links.observe(value, entry)
    if (isBoundary) said = undefined
    queue.push({ type: 'entry', entry })
    if (count !== undefined) {
      if (said === undefined) Object.assign(entry, count)
      else said.entry.usage = count.usage
      said = undefined
    } else if (entry.kind === 'message' && entry.role === 'assistant') {
      said = { entry, at: queue.length - 1, bytes: byteLength }
    } else if (said !== undefined) said.bytes += byteLength
  }

  /** What need not be held any longer. */
  const release = (): ReadItem[] => {
    isWaiting &&= !lines.hasCounts && queue.length <= HELD && queuedBytes <= HELD_BYTES
    if (isWaiting) return []
    if (said === undefined || queue.length - said.at > HELD || said.bytes > HELD_BYTES) {
      const all = queue
      queue = []
      said = undefined
      return all
    }
    const before = queue.splice(0, said.at)
    said = { ...said, at: 0 }
    return before
  }

  const open = (): ReadItem => {
    isOpen = true
    return { type: 'session', session: toSession(thread() ?? facts.thread, facts) }
  }

  return {
    async *read(file) {
      for await (const steps of readInOrder(file)) {
        if (steps.length === 0) continue
        // Not in this frame: it would hold on to the last of them while the next are read.
        steps.forEach(take)
        const opened = isOpen ? [] : [open()]
        yield [...opened, ...release()]
      }
    },
    end() {
      said = undefined
      isWaiting = false
      return isOpen ? [...release(), open()] : []
    },
    get hasCounts() {
      return lines.hasCounts
    },
    spawns: links.spawns,
  }
}

function renameCalls(items: readonly ReadItem[], renamed: readonly [string, string]): void {
  for (const item of items) {
    if (item.type !== 'entry') continue
    // Still being made: see `take`.
    const entry: Draft = item.entry
    const name = entry.call?.messageId
    if (name !== undefined) entry.call = { ...entry.call, messageId: renamedCall(name, renamed) }
  }
}
