/**
 * A step's transcript and receipt as swarm's files have them, made as they are asked for from whatever recorded the step: its own
 * files, a journal or another agent's log. In memory only: no name of a request or a log becomes a path. Without secrets.
 */
import { outlineSession, readSession } from '../archive/read-session.ts'
import type { FileOperation, ReadItem, Writing } from '../formats/format.ts'
import { toPaths } from '../formats/swarm-names.ts'
import { beginSwarm } from '../formats/swarm-write.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { Redactor } from '../redact/redactor.ts'
import { oneSession } from '../sources/one-session.ts'
import { sessionStreams, sessionUnits, type SessionUnit } from '../sources/session-streams.ts'
import { findSessions, getSession, type ListedSession } from '../sources/state-sessions.ts'
import { keyOf } from '../sources/session-facts.ts'
import { placeName } from '../sources/unit-place.ts'
import type { Database } from '../sqlite/driver.ts'
import type { Session } from '../transcript/session.ts'
import type { AppContext } from './context.ts'
import { QUIET, safelyNamed, type FoundStep } from './run-steps.ts'

/** A part of a file that grows by lines, or a whole one. */
export type StepFile = { readonly path: string; readonly text: string; readonly isWhole: boolean }

type Items = AsyncIterable<readonly ReadItem[]>

/** What the session says, each entry once. `isOutline`: large content is left out. Read later, but with what is known now. */
export function readStep(
  database: Database,
  { archive }: AppContext,
  id: string,
  { isOutline = false }: { readonly isOutline?: boolean } = {},
): Items {
  const { found, known, units } = recordingsOf(database, { archive }, id)
  if (found === undefined || known === undefined) return nothing()
  return oneSession(sessionStreams(units, archive, isOutline ? outlineSession : readSession), found, known)
}

/** The operations of swarm's own writer, as far as they put text into files. */
export async function* stepFiles(items: Items, redactor: Redactor): AsyncGenerator<StepFile> {
  const fold = createStepFold(redactor)
  for await (const batch of items) yield* fold.add(batch)
  yield* fold.end()
}

/** The receipt of the agent that is meant: of the step's own, or of a subagent. */
export async function receiptText(
  database: Database,
  context: AppContext,
  { id, names }: FoundStep,
): Promise<string | undefined> {
  const own = toPaths(names).receipt.toLowerCase()
  for await (const { path, text, isWhole } of stepFiles(
    readStep(database, context, id, { isOutline: true }),
    context.redactor,
  ))
    if (isWhole && path.toLowerCase() === own) return text
  return undefined
}

/** The receipts of several steps by their ids; each file that several of them lie in is read once. */
export async function readReceipts(
  database: Database,
  context: AppContext,
  steps: readonly FoundStep[],
): Promise<ReadonlyMap<string, string>> {
  const receipts = new Map<string, string>()
  const together = new Map<string, { readonly unit: SessionUnit; readonly steps: Map<string, FoundStep> }>()
  const alone: FoundStep[] = []
  for (const step of steps) {
    const { found, units } = recordingsOf(database, context, step.id)
    const [unit, ...others] = units
    if (found === undefined || unit === undefined) continue
    if (others.length > 0 || unit.format === JOURNAL) {
      alone.push(step)
      continue
    }
    const name = placeName(unit.place)
    const group = together.get(name) ?? { unit, steps: new Map<string, FoundStep>() }
    group.steps.set(found.key, step)
    together.set(name, group)
  }
  for (const { unit, steps: own } of together.values())
    for (const [id, text] of await receiptsOf(unit, own, context)) receipts.set(id, text)
  for (const step of alone) {
    const text = await receiptText(database, context, step)
    if (text !== undefined) receipts.set(step.id, text)
  }
  return receipts
}

async function receiptsOf(
  unit: SessionUnit,
  steps: ReadonlyMap<string, FoundStep>,
  { archive, redactor }: AppContext,
): Promise<ReadonlyMap<string, string>> {
  const folds = new Map<FoundStep, StepFold>()
  let fold: StepFold | undefined
  const [stream] = sessionStreams([unit], archive, outlineSession)
  for await (const batch of stream?.items ?? nothing()) {
    for (const item of batch) {
      if (item.type === 'session') {
        const step = steps.get(keyOf(item.session, placeName(unit.place))) ?? steps.get(item.session.id)
        fold = step && (folds.get(step) ?? createStepFold(redactor))
        if (step !== undefined && fold !== undefined) folds.set(step, fold)
      }
      fold?.add([item])
    }
  }
  return new Map(
    [...folds].flatMap(([{ id, names }, one]): (readonly [string, string])[] => {
      const own = toPaths(names).receipt
      const receipt = one.end().find(({ isWhole, path }) => isWhole && path === own)
      return receipt === undefined ? [] : [[id, receipt.text]]
    }),
  )
}

type StepFold = { add(items: readonly ReadItem[]): readonly StepFile[]; end(): readonly StepFile[] }

function createStepFold(redactor: Redactor): StepFold {
  let session: Session | undefined
  let writing: Writing | undefined
  return {
    add(items) {
      const files: StepFile[] = []
      for (const item of items) {
        if (item.type === 'session') {
          session = safelyNamed(redactor.session(item.session))
          writing ??= beginSwarm(session, QUIET)
        } else if (item.type === 'entry' && writing !== undefined)
          files.push(...toFiles(writing.entry(redactor.entry(item.entry))))
      }
      return files
    },
    end: () => (session === undefined || writing === undefined ? [] : toFiles(writing.end(session))),
  }
}

function toFiles(operations: readonly FileOperation[]): readonly StepFile[] {
  return operations.flatMap((operation): StepFile[] => {
    if (operation.op === 'append') return [{ path: operation.path, text: operation.text, isWhole: false }]
    if (operation.op !== 'write') return []
    return [{ path: operation.path, text: operation.content.toString(), isWhole: true }]
  })
}

type Recordings = {
  readonly found: { readonly key: string; readonly id: string } | undefined
  readonly known: ListedSession | undefined
  readonly units: readonly SessionUnit[]
}

function recordingsOf(database: Database, { archive }: Pick<AppContext, 'archive'>, id: string): Recordings {
  const found = findSessions(database, id).find((one) => one.id === id)
  if (found === undefined) return { found, known: undefined, units: [] }
  return { found, known: getSession(database, found.key), units: sessionUnits(database, archive, found.key) }
}

async function* nothing(): AsyncGenerator<readonly ReadItem[]> {}
