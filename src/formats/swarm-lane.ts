/**
 * One transcript and its receipt: one agent's part of a step. Lines are the seed's, appended as they happen; a tool's line
 * carries call and result, so it is written when the result comes, or at the end without one.
 */
import { contentText, outputText, textOf, type Block, type ToolResultBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asObject, asString, isObject, type JsonObject, toSpacedJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createPairing } from '../transcript/tools.ts'
import { createCallFold } from '../transcript/totals.ts'
import { hasCounts, type Usage } from '../transcript/usage.ts'
import type { FileOperation, WriteContext } from './format.ts'
import { loseOfEntry, loseOfSession, reportTokens } from './swarm-losses.ts'
import { rawOf, timeOf, toLine } from './swarm-line.ts'
import { parseFileName, toPaths, type StepNames } from './swarm-names.ts'
import { toMicros, toReceipt, UNKNOWN_MODEL } from './swarm-receipt.ts'
import { reportedBy } from './swarm-result.ts'
import { isStubText, STUB_MODEL, STUB_PREFIX } from './swarm-stub.ts'

/** What the seed requires and nobody said. */
const EPOCH = '1970-01-01T00:00:00.000Z'
const TOOL = 'unknown'
/** The tool whose result is the file's content: it stands in `content`, all others' in `tool_output`. */
const READ_TOOL = 'Read'
/** Provider calls that may still be reported again; a recorder that never ends must not remember them all. */
const OPEN_CALLS = 1000

export type Lane = {
  open(): FileOperation[]
  add(entry: Entry): FileOperation[]
  /** Keeps what a receipt that was read says beyond the seed. */
  state(receipt: JsonObject): void
  /** The lines of calls that nothing answered, and the receipt. `reported` is what is stated of the whole. */
  close(session: Session, reported: Usage | undefined): FileOperation[]
}

/** `line`: how many were written when the call came. */
type Called = { readonly entry: Entry; readonly fields: JsonObject; readonly line: number }

type LaneOptions = {
  readonly names: StepNames
  /** The session's own lane begins and ends with it; a subagent's with its entries. */
  readonly isPrimary: boolean
  readonly startedAt: string | undefined
  /** Nothing was asked of a provider: the seed has such answers begin with `[STUB]`. */
  readonly isStub: boolean
}

export function createLane(
  { names, isPrimary, startedAt: since, isStub }: LaneOptions,
  context: WriteContext,
): Lane {
  const paths = toPaths(names)
  const calls = createPairing<Called>()
  const fold = createCallFold({ window: OPEN_CALLS })
  const models = new Set<string>()
  let firstAt = since
  let latest = since
  let stated: JsonObject | undefined
  /** Lines so far, when the first of them says it was, and what their own words say of the whole. */
  let count = 0
  let firstLineAt: string | undefined
  let said: Partial<Session> = {}

  const timestamp = (entry: Entry): string => {
    if (entry.at === undefined) context.filled(entry, 'timestamp')
    return toMicros(entry.at ?? latest ?? EPOCH)
  }

  const message = (entry: Entry, role: string, content: string, fields: JsonObject): string =>
    toLine({ timestamp: timestamp(entry), role, content }, fields)

  const toolLine = (
    entry: Entry,
    call: ToolCall | undefined,
    result: ToolResultBlock | undefined,
    fields: JsonObject,
  ): string => {
    const name = call?.name ?? result?.name
    if (name === undefined) context.filled(entry, 'tool_name')
    if (call === undefined) context.filled(entry, 'tool_input')
    const own = {
      timestamp: timestamp(entry),
      role: 'tool',
      tool_name: name ?? TOOL,
      tool_input: inputOf(entry, call, context),
    }
    if (result === undefined) return toLine(own, fields)
    return toLine({ ...own, [name === READ_TOOL ? 'content' : 'tool_output']: outputText(result) }, fields)
  }

  /** A call's line comes with its result: other lines may stand before it by then. */
  const loseMoved = ({ entry, line }: Called): void => {
    if (line !== count) context.lost(entry, 'its place in the order')
  }

  const resultLine = (entry: Entry, result: ToolResultBlock): string => {
    if (result.output === undefined && result.error === undefined) context.filled(entry, 'tool_output')
    const open = calls.answer(entry.source, result)
    if (open === undefined) return toolLine(entry, undefined, result, {})
    const { value, call } = open
    // The line is the invocation: it says when the tool was called.
    const at = value.entry.at ?? entry.at
    if (entry.at !== undefined && entry.at !== at) context.lost(entry, 'time')
    if (entry.at === undefined) context.filled(entry, 'timestamp')
    if (result.name !== undefined && result.name !== call.name) context.lost(entry, 'tool name')
    const isTimed = value.entry.at === undefined && at !== undefined
    if (isTimed) context.filled(value.entry, 'timestamp')
    const timed = isTimed ? { ...value.entry, at } : value.entry
    loseMoved(value)
    return toolLine(timed, call, result, value.fields)
  }

  const blockLine = (entry: Entry, block: Block, fields: JsonObject): string | undefined => {
    const role = entry.kind === 'message' ? entry.role : undefined
    if (block.type === 'tool-call') {
      calls.open(entry.source, block, { entry: { ...entry, blocks: [] }, fields, line: count })
      return undefined
    }
    if (block.type === 'tool-result') return resultLine(entry, block)
    if (block.type === 'text' && role === 'tool') {
      return toolLine(entry, undefined, { type: 'tool-result', output: block.text }, fields)
    }
    if (block.type === 'text' && role !== undefined) {
      const text = textOf([block])
      const isUnmarked = isStub && role === 'assistant' && !isStubText(role, text)
      // A line that was read is put back as it was.
      if (!isUnmarked || entry.origin?.format === 'swarm') return message(entry, role, text, fields)
      context.filled(entry, STUB_PREFIX)
      return message(entry, role, `${STUB_PREFIX} ${text}`, fields)
    }
    if (block.type === 'error') {
      if (role === undefined || role === 'tool') context.filled(entry, 'role')
      return message(entry, role === undefined || role === 'tool' ? 'system' : role, block.message, fields)
    }
    return undefined
  }

  return {
    open: () => [
      { op: 'set-aside', path: paths.transcript, with: [paths.receipt] },
      { op: 'create', path: paths.transcript, content: '' },
    ],
    add(entry) {
      fold.add(entry)
      if (entry.model !== undefined) models.add(entry.model)
      firstAt ??= entry.at
      const swarm = asObject(entry.metadata?.['swarm'])
      const lines: string[] = []
      const raw = swarm?.['in'] === 'llm' ? rawOf(entry) : undefined
      if (raw !== undefined) {
        lines.push(`${toSpacedJson(raw)}\n`)
        count += 1
        said = { ...said, ...reportedBy(entry) }
      } else {
        let fields = asObject(swarm?.['fields']) ?? {}
        for (const block of entry.blocks) {
          const line = blockLine(entry, block, fields)
          if (line !== undefined) {
            lines.push(line)
            count += 1
          }
          fields = {}
        }
        loseOfEntry(entry, context)
      }
      firstLineAt ??= timeOf(lines[0])
      latest = entry.at ?? latest
      return lines.length === 0 ? [] : [{ op: 'append', path: paths.transcript, text: lines.join('') }]
    },
    state(receipt) {
      stated = receipt
    },
    close(session, reported) {
      const lines = calls.unanswered().map(({ call, value }) => {
        loseMoved(value)
        count += 1
        return toolLine(value.entry, call, undefined, value.fields)
      })
      firstLineAt ??= timeOf(lines[0])
      const { run, flow } = names
      const id = uuidFrom('swarm', run, flow, parseFileName(paths.transcript).stem, firstLineAt ?? '')
      const operations: FileOperation[] =
        lines.length === 0 ? [] : [{ op: 'append', path: paths.transcript, text: lines.join('') }]
      if (session.status === 'running') {
        context.lost(undefined, 'a receipt: the step is still running')
        if (isPrimary) loseOfSession(session, undefined, { ...said, id, run: { id: run, flow } }, context)
        return operations
      }
      const startedAt = fill(context, firstAt ?? latest, 'started_at', EPOCH)
      const ended = isPrimary ? (session.endedAt ?? latest) : (latest ?? session.endedAt)
      const completedAt = fill(context, ended, 'completed_at', startedAt)
      // Totals that are stated are kept, never recomputed.
      const usage = reported !== undefined && hasCounts(reported) ? reported : fold.totals().usage
      if (session.stub !== true && stated?.['tokens'] === undefined) reportTokens(usage, context)
      const isFailed = session.status !== 'completed'
      if (isFailed && session.error === undefined) context.filled(undefined, 'error')
      const receipt = toReceipt(
        {
          names,
          model: modelOf(session, stated, models, context),
          startedAt,
          completedAt,
          status: session.status,
          error: session.error ?? (isFailed ? session.status : undefined),
          usage: session.stub === true ? undefined : usage,
          transcriptPath: paths.transcriptPath,
        },
        stated,
      )
      const name = { swarm: run }
      if (isPrimary) loseOfSession(session, receipt, { ...said, id, names: name }, context)
      return [...operations, { op: 'write', path: paths.receipt, content: receipt, beside: paths.transcript }]
    },
  }
}

type ToolCall = Extract<Block, { readonly type: 'tool-call' }>

/** The seed requires an object. */
function inputOf(entry: Entry, call: ToolCall | undefined, context: WriteContext): JsonObject {
  const input = call?.inputBlob === undefined ? call?.input : contentText(call.inputBlob)
  if (input === undefined) return {}
  if (isObject(input)) return input
  context.lost(entry, 'that the arguments are no object: they are written under "raw"')
  return { raw: input }
}

function modelOf(
  session: Session,
  stated: JsonObject | undefined,
  models: ReadonlySet<string>,
  context: WriteContext,
): string {
  const [first, ...others] = models
  if (others.length > 0) context.lost(undefined, `that other models took part: ${others.join(', ')}`)
  if (session.stub === true) return asString(stated?.['model']) ?? STUB_MODEL
  return fill(context, session.model ?? first, 'model', UNKNOWN_MODEL)
}

function fill(context: WriteContext, value: string | undefined, field: string, filler: string): string {
  if (value === undefined) context.filled(undefined, field)
  return value ?? filler
}
