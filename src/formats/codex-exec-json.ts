/** Files of `codex exec --json`: what Codex printed while it ran. Its own log of the same thread is codex's. */
import { asString, isObject, type JsonObject } from '../transcript/json.ts'
import { foldCodex } from './codex-exec-fold.ts'
import type { Detection, Format } from './format.ts'
import type { Head } from './head-records.ts'
import { streamFormat } from './stream-file.ts'

export const codexExecJson: Format = streamFormat({
  id: 'codex-exec-json',
  title: 'Codex: codex exec --json',
  agent: 'codex',
  begins: ({ type, thread_id: id }) => (type === 'thread.started' ? asString(id) : undefined),
  fold: foldCodex,
  look,
})

function look({ records, strange }: Head): Detection | undefined {
  const own = records.filter(isOwn).length
  if (own * 2 <= records.length + strange) return undefined
  return { confidence: 0.95, reason: `${own} lines of codex exec --json` }
}

function isOwn({ type, thread_id: id, item, usage, error, message }: JsonObject): boolean {
  switch (asString(type) ?? '') {
    case 'thread.started':
      return typeof id === 'string'
    case 'turn.started':
      return true
    case 'turn.completed':
      return isObject(usage)
    case 'turn.failed':
      return isObject(error)
    case 'item.started':
    case 'item.updated':
    case 'item.completed':
      return isObject(item)
    case 'error':
      return typeof message === 'string'
    default:
      return false
  }
}
