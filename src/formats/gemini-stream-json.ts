/** Files of `gemini --output-format stream-json`: what Gemini CLI printed while it ran. */
import { counted } from '../transcript/counted.ts'
import { asString, isObject, type JsonObject } from '../transcript/json.ts'
import { vocabulary } from './drift.ts'
import type { Detection, Format } from './format.ts'
import { foldGemini } from './gemini-stream-fold.ts'
import type { Head } from './head-records.ts'
import { streamFormat } from './stream-file.ts'

export const geminiStreamJson: Format = streamFormat({
  id: 'gemini-stream-json',
  words: `type timestamp session_id role content delta tool_name tool_id parameters status output success error message user assistant tool_use tool_result
    severity`,
  vocabulary: vocabulary({
    records: [
      'init: model session_id',
      'message: content delta role',
      'tool_use: parameters tool_id tool_name',
      'tool_result: error output status tool_id',
      'error: severity message',
      'result: error stats status',
    ],
    common: 'type timestamp ts',
  }),
  watch: (watch, line) => watch.record(asString(line['type']) ?? '', line),
  title: 'Gemini CLI: gemini --output-format stream-json',
  agent: 'gemini-cli',
  begins: (line) => (isInit(line) ? asString(line['session_id']) : undefined),
  fold: foldGemini,
  look,
})

function look({ records, strange }: Head): Detection | undefined {
  const own = records.filter(isOwn).length
  if (own * 2 <= records.length + strange) return undefined
  const isSure = records.some((record) => isInit(record) || record['type'] === 'tool_use')
  return isSure
    ? { confidence: 0.95, reason: `${counted(own, 'line')} of Gemini CLI's stream-json` }
    : undefined
}

const isInit = ({ type, session_id: id, model }: JsonObject): boolean =>
  type === 'init' && typeof id === 'string' && (model === undefined || typeof model === 'string')

function isOwn(line: JsonObject): boolean {
  switch (asString(line['type']) ?? '') {
    case 'init':
      return isInit(line)
    case 'message':
      return typeof line['role'] === 'string' && typeof line['content'] === 'string' && !('id' in line)
    case 'tool_use':
      return typeof line['tool_name'] === 'string' && typeof line['tool_id'] === 'string'
    case 'tool_result':
      return typeof line['tool_id'] === 'string' && typeof line['status'] === 'string'
    case 'result':
      return isObject(line['stats']) || typeof line['status'] === 'string'
    case 'error':
      return typeof line['severity'] === 'string' || typeof line['message'] === 'string'
    default:
      return false
  }
}
