/**
 * Two sessions compared by what was asked and done: where they part first, every step that differs, and what each was and came to.
 * Nothing that is the same is in it: the difference of a session from itself is empty.
 */
import type { Entry } from '../../transcript/entry.ts'
import { citation } from '../../transcript/entry.ts'
import type { Session } from '../../transcript/session.ts'
import { hashOf } from '../matching/canonical.ts'
import { createNormalisers, wayOf } from '../matching/normalisers.ts'
import { findChanges, type Change } from './changes.ts'
import { createFactsFold, type Digest, type SessionFacts, type ToolFacts, type TurnFacts } from './facts.ts'
import type { ChangeType } from './kinds.ts'
import { createStepFold, LONGEST_TEXT, type Step, type StepFold } from './steps.ts'

export type SessionDiff = {
  readonly isSame: boolean
  /** Steps that are the same but for ids, times, places and the like: no changes. */
  readonly alike: number
  readonly a: SessionFacts
  readonly b: SessionFacts
  /** The first of the changes. */
  readonly first?: StepChange
  readonly changes: readonly StepChange[]
  /** Of all changes, also where some are not told. */
  readonly counts: { readonly [type in ChangeType]: number }
  /** Every tool that either used. */
  readonly tools: readonly ToolDifference[]
  /** Files that only one of them named, or used in other ways. */
  readonly files: readonly FileDifference[]
  /** devflow's comparison, turn by turn: those that are not the same. */
  readonly turns: readonly TurnDifference[]
}

export type StepChange = Omit<Change, 'a' | 'b'> & { readonly a?: Spot; readonly b?: Spot }

export type Spot = {
  readonly citation: string
  /** Of its entry among all of the session, from 0: `#12` on the page. */
  readonly position: number
  /** All that it says, as far as it could be held. */
  readonly text?: string
}

export type ToolDifference = { readonly name: string; readonly a: ToolFacts; readonly b: ToolFacts }
export type FileDifference = {
  readonly path: string
  readonly a: readonly string[]
  readonly b: readonly string[]
}
export type TurnDifference = {
  /** From 1. */
  readonly turn: number
  readonly verdict: 'different' | 'different roles' | 'missing'
  readonly a?: Pick<TurnFacts, 'role' | 'chars'>
  readonly b?: Pick<TurnFacts, 'role' | 'chars'>
}

/** One side, taken in entry by entry. */
export type Side = { add(entry: Entry): void; end(session: Session): Taken }
export type Taken = {
  readonly digest: Digest
  readonly steps: readonly Step[]
  readonly texts: StepFold['texts']
}

export function createSide(): Side {
  const facts = createFactsFold()
  const steps = createStepFold()
  return {
    add(entry) {
      facts.add(entry)
      steps.add(entry)
    },
    end: (session) => ({ digest: facts.end(session), steps: steps.steps, texts: steps.texts }),
  }
}

/** `most`: changes that are told one by one; all are counted. */
export function diffSessions(a: Taken, b: Taken, most = Infinity): SessionDiff {
  const { changes: all, alike } = findChanges(a.steps, b.steps, createAlikeKey(a, b))
  const counts = { changed: 0, gone: 0, come: 0, moved: 0 }
  for (const { type } of all) counts[type] += 1
  const changes = all.slice(0, most).map((change): StepChange => ({
    type: change.type,
    what: change.what,
    ...(change.tool !== undefined && { tool: change.tool }),
    ...(change.a && { a: toSpot(a, change.a) }),
    ...(change.b && { b: toSpot(b, change.b) }),
  }))
  const [first] = changes
  return {
    isSame: all.length === 0,
    alike,
    a: a.digest.facts,
    b: b.digest.facts,
    ...(first && { first }),
    changes,
    counts,
    tools: diffTools(a.digest, b.digest),
    files: diffFiles(a.digest, b.digest),
    turns: diffTurns(a.digest.turns, b.digest.turns),
  }
}

/** Reads steps by the table of volatile values. One whose words are not all held is known by its exact key. */
function createAlikeKey(a: Taken, b: Taken): (step: Step, side: 'a' | 'b') => string {
  const roots = [a, b].flatMap(({ digest }) => digest.session.cwd ?? [])
  const way = wayOf(createNormalisers({ roots }))
  return ({ what, tool, error, held, key }, side) => {
    const text = held === undefined ? undefined : (side === 'a' ? a : b).texts.get(held)
    if (text === undefined || text.length >= LONGEST_TEXT) return key
    return hashOf(
      [what, tool ?? '', error === undefined ? '' : `!${way.text(error)}`, way.text(text)].join('\n'),
    )
  }
}

/** Its text is made when it is asked for: whoever shows some of a hundred thousand changes needs no others. */
function toSpot({ digest, texts }: Taken, { held, position, ...place }: Step): Spot {
  const spot = { citation: citation(digest.session.id, place), position }
  if (held === undefined) return spot
  return {
    ...spot,
    get text() {
      return texts.get(held)
    },
  }
}

const UNUSED: ToolFacts = { calls: 0, failed: 0 }

function diffTools(a: Digest, b: Digest): readonly ToolDifference[] {
  const names = [...new Set([...a.tools.keys(), ...b.tools.keys()])].sort()
  return names.map((name) => ({ name, a: a.tools.get(name) ?? UNUSED, b: b.tools.get(name) ?? UNUSED }))
}

function diffFiles(a: Digest, b: Digest): readonly FileDifference[] {
  const paths = [...new Set([...a.files.keys(), ...b.files.keys()])].sort()
  const waysIn = ({ files }: Digest, path: string): readonly string[] => [...(files.get(path) ?? [])].sort()
  return paths
    .map((path) => ({ path, a: waysIn(a, path), b: waysIn(b, path) }))
    .filter(({ a: was, b: is }) => was.join() !== is.join())
}

function diffTurns(a: readonly TurnFacts[], b: readonly TurnFacts[]): readonly TurnDifference[] {
  const found: TurnDifference[] = []
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const [was, is] = [a[at], b[at]]
    if (was !== undefined && is !== undefined && was.hash === is.hash && was.role === is.role) continue
    const verdict =
      was === undefined || is === undefined
        ? 'missing'
        : was.role === is.role
          ? 'different'
          : 'different roles'
    found.push({
      turn: at + 1,
      verdict,
      ...(was && { a: { role: was.role, chars: was.chars } }),
      ...(is && { b: { role: is.role, chars: is.chars } }),
    })
  }
  return found
}
