/** Every format there is, in the order they are listed to people. Hansard's own journal is not among them: it is no foreign format. */
import { anthropicManagedAgents } from './anthropic-managed-agents.ts'
import { anthropicMessages } from './anthropic-messages.ts'
import { claudeCode } from './claude-code.ts'
import { claudeStreamJson } from './claude-stream-json.ts'
import { cline } from './cline.ts'
import { codexTuiLog } from './codex-tui-log.ts'
import { codex } from './codex.ts'
import { copilotCli } from './copilot-cli.ts'
import { cursor } from './cursor.ts'
import { devflow } from './devflow.ts'
import { dsh } from './dsh.ts'
import { entire } from './entire.ts'
import type { Format } from './format.ts'
import { geminiCli } from './gemini-cli.ts'
import { geminiContents } from './gemini-contents.ts'
import { geminiStreamJson } from './gemini-stream-json.ts'
import { generic } from './generic.ts'
import { grok } from './grok.ts'
import { iflow } from './iflow.ts'
import { kimi } from './kimi.ts'
import { leslie } from './leslie.ts'
import { openAiChat } from './openai-chat.ts'
import { openAiResponses } from './openai-responses.ts'
import { sweAgent } from './swe-agent.ts'
import { miniSweAgent } from './mini-swe-agent.ts'
import { atif } from './atif.ts'
import { atof } from './atof.ts'
import { inspect } from './inspect.ts'
import { langsmith } from './langsmith.ts'
import { openclawTelemetry } from './openclaw-telemetry.ts'
import { droid } from './droid.ts'
import { antigravity } from './antigravity.ts'
import { hermes } from './hermes.ts'
import { aider } from './aider.ts'
import { amp } from './amp.ts'
import { continueSessions } from './continue.ts'
import { goose } from './goose.ts'
import { otel } from './otel.ts'
import { chatgptExport } from './chatgpt-export.ts'
import { claudeExport } from './claude-export.ts'
import { har } from './har.ts'
import { kilo, opencode } from './opencode.ts'
import { openhands } from './openhands.ts'
import { pi } from './pi.ts'
import { providerSse } from './provider-sse.ts'
import { qwen } from './qwen.ts'
import { raw } from './raw.ts'
import { swarm } from './swarm.ts'
import { vercelUiMessages } from './vercel-ui-messages.ts'
import { weakincentives } from './weakincentives.ts'

export const formats: readonly Format[] = [
  devflow,
  weakincentives,
  leslie,
  entire,
  swarm,
  claudeCode,
  codex,
  pi,
  geminiCli,
  opencode,
  kilo,
  copilotCli,
  cursor,
  cline,
  qwen,
  kimi,
  iflow,
  grok,
  dsh,
  openclawTelemetry,
  openAiChat,
  anthropicMessages,
  openAiResponses,
  geminiContents,
  providerSse,
  anthropicManagedAgents,
  vercelUiMessages,
  claudeStreamJson,
  codexTuiLog,
  geminiStreamJson,
  openhands,
  har,
  claudeExport,
  chatgptExport,
  otel,
  goose,
  continueSessions,
  amp,
  aider,
  hermes,
  antigravity,
  droid,
  langsmith,
  inspect,
  atof,
  atif,
  miniSweAgent,
  sweAgent,
  generic,
  raw,
]
