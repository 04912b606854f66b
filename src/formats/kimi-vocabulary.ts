/** What Kimi Code's wire is known to say, as of protocol 1.4. */
import { asObject, asString, type JsonObject } from '../transcript/json.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

export const VOCABULARY = vocabulary({
  records: [
    'metadata: protocol_version created_at app_version',
    'config.update: profileName systemPrompt modelAlias thinkingEffort cwd subagentNames',
    'profile.bind: modelAlias profileName thinkingEffort systemPrompt environmentDisclosure agentsMdPaths agentsMd tools skills subagentNames',
    'tools.set_active_tools: names',
    'turn.prompt: input origin',
    'turn.steer: input origin',
    'turn.cancel:',
    'turn.ended: turnId reason durationMs',
    'context.append_message: message',
    'context.append_loop_event: event',
    'llm.tools_snapshot: hash tools',
    'llm.request: kind provider model modelAlias thinkingEffort thinkingKeep maxTokens toolSelect systemPromptHash toolsHash messageCount turnStep attempt',
    'usage.record: model usage usageScope',
    'permission.set_mode: mode',
    'permission.record_approval_result: turnId toolCallId toolName action sessionApprovalRule result',
    'plugin.session_start: content',
    'runtime.set_binding: workspaceId runtimeId',
    'token_counting.measured: length tokens',
    'token_counting.turn_recorded: turnId length tokens',
    'state: createdAt updatedAt title isCustomTitle agents custom workDir lastPrompt',
    'wire: timestamp message',
  ],
  common: 'type time agentId',
  blocks: 'step.begin step.end content.part tool.call tool.result',
})

export function watchKimi(watch: DriftWatch, line: JsonObject): void {
  const type = asString(line['type'])
  watch.record(type ?? ('agents' in line ? 'state' : 'wire'), line)
  const event = asObject(line['event'])
  if (event !== undefined) watch.block(asString(event['type']) ?? '')
}
