/** What Qwen Code's logs are known to say, as of 0.21. */
import { asArray, asObject, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

export const VOCABULARY = vocabulary({
  records: [
    'user: message',
    'assistant: message model usageMetadata contextWindowSize',
    'tool_result: message toolCallResult model',
    'system/chat_compression:',
    'system/slash_command:',
    'system/ui_telemetry:',
    'system/at_command:',
    'system/custom_title:',
    'system/rewind:',
    'system/agent_bootstrap:',
    'system/session_artifact_snapshot:',
    'system/file_history_snapshot:',
    'system/notification:',
    'system/cron:',
    'system/attribution_snapshot:',
    'session_update: id v data',
    'permission_request: id v data',
    'permission_resolved: id v data',
  ],
  common:
    'uuid parentUuid sessionId timestamp type subtype cwd version gitBranch systemPayload agentId agentName isSidechain forkedFrom',
  blocks:
    'text thought functionCall functionResponse inlineData fileData thoughtSignature executableCode codeExecutionResult',
})

export function watchQwen(watch: DriftWatch, line: JsonObject): void {
  const type = asString(line['type']) ?? ''
  const version = asString(line['version'])
  watch.record(type === 'system' ? `system/${asString(line['subtype']) ?? ''}` : type, line, version)
  for (const part of asArray(asObject(line['message'])?.['parts']) ?? [])
    if (isObject(part)) for (const key of Object.keys(part)) watch.block(key, version)
}
