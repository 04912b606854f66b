/**
 * A session of slices: events go in, reducers say what becomes of them, slices hold the outcome. A slice of policy `LOG` is never
 * modified or cleared while the session lives, whoever asks. A reducer that fails is said in the answer to `dispatch`.
 */
import { HansardError } from '../../errors.ts'
import { fromMillis } from '../../transcript/instant.ts'
import { PromptExecutedSlice, PromptRenderedSlice, ToolInvokedSlice, TranscriptEntrySlice } from './events.ts'
import { memorySliceFactory } from './memory.ts'
import type {
  Reducer,
  SliceFactoryConfig,
  SliceOp,
  SlicePolicy,
  SliceStore,
  SliceType,
  SliceView,
} from './slice.ts'

export type SliceAccess<T> = Pick<SliceView<T>, 'all' | 'latest' | 'where'> & {
  view(): SliceView<T>
  append(item: T): void
  extend(items: readonly T[]): void
  replace(items: readonly T[]): void
  clear(predicate?: (item: T) => boolean): void
  /** The items a slice begins with. A log that holds any has begun. */
  seed(items: readonly T[]): void
  /** What becomes of an event in this slice. Several may be registered; they run in that order. */
  register<E>(
    eventType: SliceType<E>,
    reducer: Reducer<T, E>,
    options?: { readonly policy?: SlicePolicy },
  ): void
  policy(): SlicePolicy
}

export type DispatchResult = {
  readonly event: unknown
  readonly handlersInvoked: number
  readonly errors: readonly unknown[]
  readonly ok: boolean
}

export type Snapshot = {
  readonly version: '1'
  readonly createdAt: string
  readonly slices: readonly { readonly sliceType: string; readonly items: readonly unknown[] }[]
  readonly policies: Readonly<Record<string, SlicePolicy>>
}

export type SliceSession = {
  slice<T>(type: SliceType<T>): SliceAccess<T>
  /** May come late: what the slice holds moves to the factory of its new policy. */
  setPolicy<T>(type: SliceType<T>, policy: SlicePolicy): void
  dispatch(event: unknown): DispatchResult
  /** The slices of policy STATE; with `includeAll`, the logs as well. */
  snapshot(options?: { readonly includeAll?: boolean }): Snapshot
  /** Puts STATE slices back as they were; those that the snapshot lacks become empty. Logs are not touched. */
  restore(snapshot: Snapshot): void
}

export type SliceSessionOptions = {
  readonly sliceConfig?: SliceFactoryConfig
  readonly now?: () => number
}

type Held<T> = {
  readonly type: SliceType<T>
  policy: SlicePolicy
  store: SliceStore<T>
  readonly reducers: { readonly on: SliceType<unknown>; readonly reduce: Reducer<T, unknown> }[]
}

/** Logs by nature: what was said and done. */
const LOGS: ReadonlySet<string> = new Set(
  [TranscriptEntrySlice, PromptRenderedSlice, ToolInvokedSlice, PromptExecutedSlice].map(({ name }) => name),
)

export function createSliceSession({ sliceConfig, now = Date.now }: SliceSessionOptions = {}): SliceSession {
  const memory = memorySliceFactory()
  const { stateFactory, logFactory } = sliceConfig ?? { stateFactory: memory, logFactory: memory }
  const slices = new Map<string, Held<unknown>>()

  const make = <T>(type: SliceType<T>, policy: SlicePolicy): SliceStore<T> =>
    (policy === 'LOG' ? logFactory : stateFactory).create(type)

  const hold = <T>(type: SliceType<T>): Held<T> => {
    const known = slices.get(type.name)
    // A name stands for one type: whoever asks for it by that type gets its items.
    if (known !== undefined) return known as Held<T>
    const policy = LOGS.has(type.name) ? 'LOG' : 'STATE'
    const held: Held<T> = { type, policy, store: make(type, policy), reducers: [] }
    slices.set(type.name, held as unknown as Held<unknown>)
    return held
  }

  const setPolicy = <T>(type: SliceType<T>, policy: SlicePolicy): void => {
    const held = hold(type)
    if (held.policy === policy) return
    if (held.policy === 'LOG' && !held.store.isEmpty()) refuse(held, 'made a STATE slice')
    const before = held.store
    held.store = make(type, policy)
    held.policy = policy
    const isSame = before.place !== undefined && before.place === held.store.place
    if (isSame || before.isEmpty()) return
    held.store.extend(before.all())
    before.clear()
  }

  const apply = <T>(held: Held<T>, change: SliceOp<T>): void => {
    const { type, store, policy } = held
    if (change.op === 'append') store.append(settle(type, change.item))
    else if (change.op === 'extend') store.extend(change.items.map((item) => settle(type, item)))
    else if (policy === 'LOG') refuse(held, change.op === 'clear' ? 'cleared' : 'replaced')
    else if (change.op === 'replace') store.replace(change.items.map((item) => settle(type, item)))
    else store.clear(change.predicate)
  }

  const access = <T>(held: Held<T>): SliceAccess<T> => ({
    all: () => held.store.all(),
    latest: () => held.store.latest(),
    where: (predicate) => held.store.where(predicate),
    view: () => held.store,
    append: (item) => apply(held, { op: 'append', item }),
    extend: (items) => apply(held, { op: 'extend', items }),
    replace: (items) => apply(held, { op: 'replace', items }),
    clear: (predicate) => apply(held, { op: 'clear', ...(predicate && { predicate }) }),
    seed(items) {
      if (held.policy === 'LOG' && held.store.isEmpty()) apply(held, { op: 'extend', items })
      else apply(held, { op: 'replace', items })
    },
    register(eventType, reducer, { policy } = {}) {
      if (policy !== undefined) setPolicy(held.type, policy)
      const on: SliceType<unknown> = eventType
      // Called only with events that `on.is` has told.
      held.reducers.push({ on, reduce: reducer as Reducer<T, unknown> })
    },
    policy: () => held.policy,
  })

  return {
    slice: (type) => access(hold(type)),
    setPolicy,
    dispatch(event) {
      let handlersInvoked = 0
      const errors: unknown[] = []
      for (const held of slices.values()) {
        const own = held.reducers.filter(({ on }) => on.is(event))
        // A slice nobody registered anything for takes its own items as they come.
        const isPlain = held.reducers.length === 0 && held.type.is(event)
        const changes = isPlain
          ? [() => APPEND(event)]
          : own.map(
              ({ reduce }) =>
                () =>
                  reduce(held.store, event),
            )
        for (const change of changes) {
          handlersInvoked += 1
          try {
            apply(held, change())
          } catch (error) {
            errors.push(error)
          }
        }
      }
      return { event, handlersInvoked, errors, ok: errors.length === 0 }
    },
    snapshot({ includeAll = false } = {}) {
      const taken = [...slices.values()].filter(({ policy }) => includeAll || policy === 'STATE')
      return {
        version: '1',
        createdAt: fromMillis(now()) ?? '',
        slices: taken.map(({ type, store }) => ({ sliceType: type.name, items: store.all() })),
        policies: Object.fromEntries(taken.map(({ type, policy }) => [type.name, policy])),
      }
    },
    restore(snapshot) {
      const items = new Map(snapshot.slices.map(({ sliceType, items }) => [sliceType, items]))
      const unknown = [...items.keys()].find((name) => !slices.has(name))
      if (unknown !== undefined) {
        throw new HansardError(
          'invalid-argument',
          `the snapshot holds a slice nobody registered: ${unknown}`,
          {
            hint: 'ask for the slice once before restoring',
          },
        )
      }
      for (const held of slices.values())
        if (held.policy === 'STATE') apply(held, { op: 'replace', items: items.get(held.type.name) ?? [] })
    },
  }
}

const APPEND = (event: unknown): SliceOp<unknown> => ({ op: 'append', item: event })

/** Refuses what is no item: a slice in a file would read it as damage. */
function settle<T>(type: SliceType<T>, item: T): T {
  if (type.is(item)) return type.settle?.(item) ?? item
  throw new HansardError('invalid-argument', `not an item of the slice ${type.name}`, {
    hint: 'each item must pass `is` of the slice’s type',
  })
}

function refuse<T>({ type }: Held<T>, what: string): never {
  throw new HansardError('append-only', `${type.name} is a LOG slice and cannot be ${what}`, {
    hint: 'append to it, or give it the policy STATE before its first item',
  })
}
