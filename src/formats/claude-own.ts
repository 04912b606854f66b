/** Which lines are surely Claude Code's own: several programs write the same wrapper around other words. */
import { isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { ShapedRecord } from '../transcript/cut-records.ts'
import type { JsonRecord } from '../transcript/records.ts'
import { isDated, isFlatLine } from './claude-facts.ts'
import type { ClaudePlan } from './claude-plans.ts'

export function isClaudeLine(record: JsonObject): boolean {
  const { sessionId, message } = record
  if (typeof sessionId !== 'string' || !('parentUuid' in record)) return false
  // The id stands behind the message, which in a line that is cut off has no end.
  if (!('uuid' in record || isObject(message))) return false
  if (!('userType' in record || 'isSidechain' in record || 'requestId' in record)) return false
  // iFlow and Qwen write the same wrapper.
  if (sessionId.startsWith(IFLOW) || (isObject(message) && 'parts' in message)) return false
  return !isFlatLine(record)
}

/** How iFlow names sessions. */
const IFLOW = 'session-'

/** A few lines: what is not told by them is told by asking every format. */
export const SURE_BYTES = 8 * 1024
/** What every line of a conversation has, whatever it is of. Nobody else writes all of these. */
const OWN_KEYS = ['parentUuid', 'isSidechain', 'cwd', 'sessionId', 'version', 'uuid', 'timestamp']

/** True of what Claude Code alone writes. */
export function isOwnLine(line: JsonObject): boolean {
  return OWN_KEYS.every((key) => Object.hasOwn(line, key)) && isClaudeLine(line)
}

/** Whole lines, at least one, of which all are Claude Code's. */
export function isSurelyOwn(head: Buffer): boolean {
  const lines = head.toString('utf8').split('\n')
  const cut = lines.pop()
  if (lines.length === 0) return false
  const isOwn = (line: string): boolean => {
    const record = parseJson(line)
    return isObject(record) && isOwnLine(record)
  }
  return lines.every(isOwn) && (head.length === SURE_BYTES || cut === '')
}

/**
 * The same of the first records of a file, of which there are so many bytes; also where a line says so by its shape. `sessionOf`: the
 * session that a record names.
 */
export function areSurelyOwn(
  records: readonly JsonRecord[],
  bytes: number,
  sessionOf: (record: JsonRecord) => string | undefined,
): boolean {
  let end = 0
  for (const record of records) {
    // What is between two records is none.
    if (record.byteOffset !== end || !isOwnRecord(record, sessionOf)) return false
    end += record.byteLength + 1
    if (end >= SURE_BYTES) break
  }
  return end > 0 && end >= Math.min(bytes, SURE_BYTES)
}

function isOwnRecord(record: JsonRecord, sessionOf: (record: JsonRecord) => string | undefined): boolean {
  if (!(record instanceof ShapedRecord)) return isObject(record.value) && isOwnLine(record.value)
  const { plan } = record as ShapedRecord<ClaudePlan>
  const session = plan.isOwn ? sessionOf(record) : undefined
  return session !== undefined && !session.startsWith(IFLOW) && !isDated(session)
}
