/**
 * What differs between the steps of two sessions: lane by lane, the main agent's with the main agent's, a subagent's with the one that
 * was asked the same. Steps that say the same hold the sessions together; between them a step of one kind stands for the next of that
 * kind, and what is left went, came, or is elsewhere.
 */
import { PRIMARY } from '../../transcript/entry.ts'
import { align, type Pair } from './align.ts'
import type { ChangeType, StepKind } from './kinds.ts'
import type { Step } from './steps.ts'

export type Change = {
  readonly type: ChangeType
  readonly what: StepKind
  readonly tool?: string
  readonly a?: Step
  readonly b?: Step
}

export type Changes = {
  /** In the order of reading. Empty when both say the same in the same order. */
  readonly changes: readonly Change[]
  /** Pairs of steps that are the same but for what differs between equal runs. */
  readonly alike: number
}

/** `alikeKey`: the same for two steps that differ only in what may differ between equal runs. */
export function findChanges(
  a: readonly Step[],
  b: readonly Step[],
  alikeKey: (step: Step, side: 'a' | 'b') => string = ({ key }) => key,
): Changes {
  const changes: Change[] = []
  let alike = 0
  for (const [one, other] of pairLanes(toLanes(a), toLanes(b))) {
    const gaps = gapsBetween(one, other)
    const left = gaps.flatMap(({ gone, come }) => {
      const pairs = align(
        gone.map((step) => alikeKey(step, 'a')),
        come.map((step) => alikeKey(step, 'b')),
      )
      alike += pairs.length
      return around(pairs, gone, come)
    })
    addChanges(changes, left)
  }
  return { changes: changes.sort((one, other) => placeOf(one) - placeOf(other)), alike }
}

const placeOf = ({ a, b }: Change): number => Math.min(a?.at ?? Infinity, b?.at ?? Infinity)

type Lane = readonly Step[]

function toLanes(steps: readonly Step[]): ReadonlyMap<string, Lane> {
  const lanes = new Map<string, Step[]>([[PRIMARY, []]])
  for (const step of steps) {
    const lane = lanes.get(step.source)
    if (lane === undefined) lanes.set(step.source, [step])
    else lane.push(step)
  }
  return lanes
}

/** Subagents' names differ from run to run: who was asked the same is the same, then who came first. */
function pairLanes(
  a: ReadonlyMap<string, Lane>,
  b: ReadonlyMap<string, Lane>,
): readonly (readonly [Lane, Lane])[] {
  const others = [...b].filter(([source]) => source !== PRIMARY).map(([, lane]) => lane)
  const unpaired: Lane[] = []
  const pairs: [Lane, Lane][] = [[a.get(PRIMARY) ?? [], b.get(PRIMARY) ?? []]]
  const take = (at: number): Lane => others.splice(at, 1)[0] ?? []
  for (const [source, lane] of a) {
    if (source === PRIMARY) continue
    const at = others.findIndex(([first]) => first?.key === lane[0]?.key)
    if (at === -1) unpaired.push(lane)
    else pairs.push([lane, take(at)])
  }
  for (const lane of unpaired) pairs.push([lane, take(0)])
  for (const lane of others) pairs.push([[], lane])
  return pairs
}

type Gap = { readonly gone: readonly Step[]; readonly come: readonly Step[] }

function addChanges(changes: Change[], unlike: readonly Gap[]): void {
  // What was done elsewhere is not what was done instead. A result goes with its call.
  const done = (step: Step): boolean => step.what !== 'result'
  const gaps = takeMoved(changes, unlike, done)
  const left = gaps.map(({ gone, come }): Gap => {
    const alike = align(gone.map(looseKey), come.map(looseKey))
    const [wasIn, isIn] = [new Set(alike.map(([at]) => at)), new Set(alike.map(([, at]) => at))]
    for (const [one, other] of alike) changes.push(toChange('changed', gone[one], come[other]))
    return { gone: gone.filter((_, at) => !wasIn.has(at)), come: come.filter((_, at) => !isIn.has(at)) }
  })
  for (const { gone, come } of takeMoved(changes, left, () => true)) {
    for (const step of gone) changes.push(toChange('gone', step, undefined))
    for (const step of come) changes.push(toChange('come', undefined, step))
  }
}

/** What stands on either side between steps that say the same. */
function gapsBetween(a: Lane, b: Lane): readonly Gap[] {
  return around(align(keys(a), keys(b)), a, b)
}

function around(pairs: readonly Pair[], a: Lane, b: Lane): readonly Gap[] {
  const gaps: Gap[] = []
  let [fromA, fromB] = [0, 0]
  const add = (toA: number, toB: number): void => {
    if (toA > fromA || toB > fromB) gaps.push({ gone: a.slice(fromA, toA), come: b.slice(fromB, toB) })
    fromA = toA + 1
    fromB = toB + 1
  }
  for (const [atA, atB] of pairs) add(atA, atB)
  add(a.length, b.length)
  return gaps
}

/** What went here and came there, noted and taken out. */
function takeMoved(
  changes: Change[],
  gaps: readonly Gap[],
  isWanted: (step: Step) => boolean,
): readonly Gap[] {
  const elsewhere = new Map<string, Step[]>()
  for (const { come } of gaps)
    for (const step of come) {
      if (!isWanted(step)) continue
      const same = elsewhere.get(step.key)
      if (same === undefined) elsewhere.set(step.key, [step])
      else same.push(step)
    }
  const moved = new Set<Step>()
  for (const { gone } of gaps)
    for (const step of gone) {
      const other = isWanted(step) ? elsewhere.get(step.key)?.shift() : undefined
      if (other === undefined) continue
      moved.add(step).add(other)
      changes.push(toChange('moved', step, other))
    }
  const isLeft = (step: Step): boolean => !moved.has(step)
  return gaps.map(({ gone, come }) => ({ gone: gone.filter(isLeft), come: come.filter(isLeft) }))
}

const keys = (lane: Lane): readonly string[] => lane.map(({ key }) => key)
const looseKey = ({ what, tool }: Step): string => `${what} ${tool ?? ''}`

function toChange(type: Change['type'], a: Step | undefined, b: Step | undefined): Change {
  const { what, tool } = (a ?? b) as Step
  return { type, what, ...(tool !== undefined && { tool }), ...(a && { a }), ...(b && { b }) }
}
