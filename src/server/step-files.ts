/**
 * A step's transcript and receipt as swarm's files have them, made as they are asked for from whatever recorded the step: its own
 * files, a journal or another agent's log. In memory only: no name of a request or a log becomes a path. Without secrets.
 */
import { outlineSession, readSession } from '../archive/read-session.ts'
import type { FileOperation, ReadItem, Writing } from '../formats/format.ts'
import { toPaths, type StepNames } from '../formats/swarm-names.ts'
import { RECEIPT } from '../formats/swarm-receipt.ts'
import { beginSwarm } from '../formats/swarm-write.ts'
import { swarm } from '../formats/swarm.ts'
import { JOURNAL } from '../journal/format-id.ts'
import type { Redactor } from '../redact/redactor.ts'
import { oneSession } from '../sources/one-session.ts'
import { sessionStreams, sessionUnits, type SessionUnit } from '../sources/session-streams.ts'
import { findSessions, getSession, type ListedSession } from '../sources/state-sessions.ts'
import { keyOf } from '../sources/session-facts.ts'
import { placeName } from '../sources/unit-place.ts'
import type { Database } from '../sqlite/driver.ts'
import { asObject, parseJson, type JsonObject } from '../transcript/json.ts'
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

/** One for each agent of a step, the step's own first. */
export type Receipts = readonly JsonObject[]

/** The receipts of several steps by their ids; each file that several of them lie in is read once. */
export async function readReceipts(
  database: Database,
  context: AppContext,
  steps: readonly FoundStep[],
): Promise<ReadonlyMap<string, Receipts>> {
  const receipts = new Map<string, Receipts>()
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
    for (const [id, some] of await receiptsOf(unit, own, context)) receipts.set(id, some)
  for (const { id, names } of alone) {
    const files: StepFile[] = []
    const items = readStep(database, context, id, { isOutline: true })
    for await (const file of stepFiles(items, context.redactor)) if (file.isWhole) files.push(file)
    receipts.set(id, toReceipts(files, names))
  }
  return receipts
}

function toReceipts(files: readonly StepFile[], names: StepNames): Receipts {
  const own = toPaths(names).receipt
  return files
    .filter(({ isWhole }) => isWhole)
    .toSorted((a, b) => Number(b.path === own) - Number(a.path === own))
    .map(({ text }) => asObject(parseJson(text)))
    .filter((receipt) => receipt !== undefined)
}

async function receiptsOf(
  unit: SessionUnit,
  steps: ReadonlyMap<string, FoundStep>,
  { archive, redactor }: AppContext,
): Promise<ReadonlyMap<string, Receipts>> {
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
  return new Map([...folds].map(([{ id, names }, one]) => [id, toReceipts(one.end(), names)]))
}

type StepFold = { add(items: readonly ReadItem[]): readonly StepFile[]; end(): readonly StepFile[] }

function createStepFold(redactor: Redactor): StepFold {
  let session: Session | undefined
  let writing: Writing | undefined
  /** Of a step that left files of its own: none is made for it. */
  let lacksReceipt = false
  return {
    add(items) {
      const files: StepFile[] = []
      for (const item of items) {
        if (item.type === 'session') {
          session = safelyNamed(redactor.session(item.session))
          writing ??= beginSwarm(session, QUIET)
        } else if (item.type === 'entry' && writing !== undefined) {
          const { origin, metadata } = item.entry
          lacksReceipt = origin?.format === swarm.id && metadata?.['record'] !== RECEIPT
          files.push(...toFiles(writing.entry(redactor.entry(item.entry))))
        }
      }
      return files
    },
    end() {
      if (session === undefined || writing === undefined) return []
      return toFiles(writing.end(session)).filter(({ isWhole }) => !isWhole || !lacksReceipt)
    },
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
