/**
 * A turn into entries: the turn itself with its text and tool calls, then one entry for each call that has an output or an
 * error, so that calls and results stand apart as they do everywhere else.
 */
import type { Block, ToolResultBlock } from '../../transcript/block.ts'
import { createSequence, PRIMARY, type Entry, type Role } from '../../transcript/entry.ts'
import {
  asArray,
  asCount,
  asNumber,
  asString,
  isObject,
  toJson,
  type Json,
  type JsonObject,
} from '../../transcript/json.ts'
import { createRecentIds } from '../id-set.ts'
import type { RawTurn } from './turn-list.ts'
import { toUsage } from './facts.ts'
import { asText, asTime, openFields, type Fields } from './fields.ts'

/** Turns of one document, in order. Ids are the turns' own numbers; `3/1` is the first result of turn 3. */
export function createTurnReader(file: string): (turn: RawTurn) => readonly Entry[] {
  const sequence = createSequence()
  const ids = createRecentIds()
  let count = 0

  const claimId = (id: Json | undefined): string => {
    const own = typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 ? String(id) : undefined
    const free = own === undefined || ids.has(own) ? `turn-${count}` : own
    ids.add(free)
    return free
  }

  return ({ value, byteOffset, byteLength }) => {
    count += 1
    const origin = { format: 'devflow', file, record: count, byteOffset, byteLength }
    if (value === undefined) {
      const reason = `a turn of ${byteLength} bytes, over the limit`
      const blocks: Block[] = [{ type: 'unknown', raw: null, reason }]
      const id = claimId(undefined)
      return [{ id, source: PRIMARY, sequence: sequence(PRIMARY), kind: 'message', blocks, origin }]
    }
    const { source, results, ...turn } = readTurn(value, count)
    const id = claimId(value['id'])
    const entry: Entry = { id, source, sequence: sequence(source), kind: 'message', ...turn, origin }
    return [
      entry,
      ...results.map(({ call, ...result }): Entry => ({
        id: `${id}/${call}`,
        source,
        sequence: sequence(source),
        kind: 'message',
        role: 'tool',
        ...result,
        origin,
      })),
    ]
  }
}

type Read = Pick<Entry, 'source' | 'blocks'> &
  Partial<Pick<Entry, 'role' | 'at' | 'usage' | 'model' | 'durationMs' | 'metadata'>> & {
    readonly results: readonly Result[]
  }

/** `call` is the call's place in the turn, from 1. */
type Result = Pick<Entry, 'blocks'> & Partial<Pick<Entry, 'at' | 'durationMs'>> & { readonly call: number }

const ROLES: ReadonlyMap<Json, Role> = new Map([
  ['system', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
])

function readTurn(value: JsonObject, number: number): Read {
  const fields = openFields(value)
  fields.take('id', (id) => (id === number ? id : undefined))
  // `tool_result`, or `tool` in the package's own words, stays among the unknown: it tells a turn from a nested result.
  const isTool = value['role'] === 'tool_result' || value['role'] === 'tool'
  const role = isTool ? 'tool' : fields.take('role', (role) => ROLES.get(role))
  const content = fields.take('content', asString)
  const calls = readCalls(fields)
  const usage = toUsage(fields.take('tokensIn', asCount), fields.take('tokensOut', asCount))
  const at = fields.take('timestamp', asTime)
  const durationMs = fields.take('durationMs', asNumber)
  const model = fields.take('model', asText)
  const source = fields.take('source', (source) => (isSource(source) ? source : undefined)) ?? PRIMARY
  const kept = { ...fields.rest(), ...(calls.kept.some((one) => one !== null) && { calls: calls.kept }) }
  return {
    source,
    ...(role && { role }),
    ...(at !== undefined && { at }),
    blocks: [...contentBlocks(content, isTool), ...calls.blocks],
    ...(usage && { usage }),
    ...(model !== undefined && { model }),
    ...(durationMs !== undefined && { durationMs }),
    ...(Object.keys(kept).length > 0 && { metadata: { devflow: kept } }),
    results: calls.results,
  }
}

function contentBlocks(content: string | undefined, isTool: boolean): readonly Block[] {
  if (isTool) return [{ type: 'tool-result', ...(content !== undefined && { output: content }) }]
  return content === undefined || content === '' ? [] : [{ type: 'text', text: content }]
}

function isSource(value: Json): value is string {
  return typeof value === 'string' && (value === PRIMARY || /^subagent:./su.test(value))
}

type Calls = { readonly blocks: Block[]; readonly results: Result[]; readonly kept: (JsonObject | null)[] }

function readCalls(fields: Fields): Calls {
  const calls: Calls = { blocks: [], results: [], kept: [] }
  for (const [index, raw] of (fields.take('toolCalls', asArray) ?? []).entries()) {
    const name = isObject(raw) ? asString(raw['name']) : undefined
    if (!isObject(raw) || name === undefined) {
      calls.blocks.push({ type: 'unknown', raw })
      calls.kept.push(null)
      continue
    }
    const own = openFields(raw)
    own.take('name', asString)
    const callId = own.take('id', asText)
    const input = own.take('input', (value) => value)
    const named = { ...(callId !== undefined && { callId }), name }
    calls.blocks.push({ type: 'tool-call', ...named, ...(input !== undefined && { input }) })
    const result = readResult(raw, own)
    if (result) {
      const { at, durationMs, ...said } = result
      const block: ToolResultBlock = { type: 'tool-result', ...named, ...said }
      const when = { ...(at !== undefined && { at }), ...(durationMs !== undefined && { durationMs }) }
      calls.results.push({ call: index + 1, blocks: [block], ...when })
    }
    calls.kept.push(own.rest() ?? null)
  }
  return calls
}

type Said = Pick<ToolResultBlock, 'output' | 'error' | 'isError'> & Pick<Entry, 'at' | 'durationMs'>

/** Undefined for a call that has neither output nor error: nothing answered it. */
function readResult(raw: JsonObject, own: Fields): Said | undefined {
  // What is no text, against Go's type, is shown as JSON and kept as it is.
  const output = own.take('output', asString) ?? shown(raw['output'])
  const error = own.take('error', asText) ?? shown(raw['error'])
  if (output === undefined && error === undefined) return undefined
  const at = own.take('timestamp', asTime)
  const durationMs = own.take('durationMs', asNumber)
  return {
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error, isError: true }),
    ...(at !== undefined && { at }),
    ...(durationMs !== undefined && { durationMs }),
  }
}

function shown(value: Json | undefined): string | undefined {
  return value === undefined || value === null || typeof value === 'string' ? undefined : toJson(value)
}
