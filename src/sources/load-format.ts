/** One format by its id, and no other: all of them together take longer to load than a search takes. */
import { HansardError } from '../errors.ts'
import type { Format } from '../formats/format.ts'

const LOADERS: ReadonlyMap<string, () => Promise<Format>> = new Map([
  ['journal', async () => (await import('../journal/format.ts')).journal],
  ['devflow', async () => (await import('../formats/devflow.ts')).devflow],
  ['weakincentives', async () => (await import('../formats/weakincentives.ts')).weakincentives],
  ['leslie', async () => (await import('../formats/leslie.ts')).leslie],
  ['entire', async () => (await import('../formats/entire.ts')).entire],
  ['swarm', async () => (await import('../formats/swarm.ts')).swarm],
  ['claude-code', async () => (await import('../formats/claude-code.ts')).claudeCode],
  ['codex', async () => (await import('../formats/codex.ts')).codex],
  ['pi', async () => (await import('../formats/pi.ts')).pi],
  ['gemini-cli', async () => (await import('../formats/gemini-cli.ts')).geminiCli],
  ['opencode', async () => (await import('../formats/opencode.ts')).opencode],
  ['kilo', async () => (await import('../formats/opencode.ts')).kilo],
  ['copilot-cli', async () => (await import('../formats/copilot-cli.ts')).copilotCli],
  ['cursor', async () => (await import('../formats/cursor.ts')).cursor],
  ['cline', async () => (await import('../formats/cline.ts')).cline],
  ['openhands', async () => (await import('../formats/openhands.ts')).openhands],
  ['har', async () => (await import('../formats/har.ts')).har],
  ['claude-export', async () => (await import('../formats/claude-export.ts')).claudeExport],
  ['chatgpt-export', async () => (await import('../formats/chatgpt-export.ts')).chatgptExport],
  ['otel', async () => (await import('../formats/otel.ts')).otel],
  ['goose', async () => (await import('../formats/goose.ts')).goose],
  ['continue', async () => (await import('../formats/continue.ts')).continueSessions],
  ['amp', async () => (await import('../formats/amp.ts')).amp],
  ['aider', async () => (await import('../formats/aider.ts')).aider],
  ['hermes', async () => (await import('../formats/hermes.ts')).hermes],
  ['antigravity', async () => (await import('../formats/antigravity.ts')).antigravity],
  ['droid', async () => (await import('../formats/droid.ts')).droid],
  ['langsmith', async () => (await import('../formats/langsmith.ts')).langsmith],
  ['inspect', async () => (await import('../formats/inspect.ts')).inspect],
  ['atof', async () => (await import('../formats/atof.ts')).atof],
  ['atif', async () => (await import('../formats/atif.ts')).atif],
  ['mini-swe-agent', async () => (await import('../formats/mini-swe-agent.ts')).miniSweAgent],
  ['swe-agent', async () => (await import('../formats/swe-agent.ts')).sweAgent],
  ['openai-chat', async () => (await import('../formats/openai-chat.ts')).openAiChat],
  ['anthropic-messages', async () => (await import('../formats/anthropic-messages.ts')).anthropicMessages],
  ['openai-responses', async () => (await import('../formats/openai-responses.ts')).openAiResponses],
  ['gemini-contents', async () => (await import('../formats/gemini-contents.ts')).geminiContents],
  ['provider-sse', async () => (await import('../formats/provider-sse.ts')).providerSse],
  ['claude-stream-json', async () => (await import('../formats/claude-stream-json.ts')).claudeStreamJson],
  ['gemini-stream-json', async () => (await import('../formats/gemini-stream-json.ts')).geminiStreamJson],
  ['qwen', async () => (await import('../formats/qwen.ts')).qwen],
  ['kimi', async () => (await import('../formats/kimi.ts')).kimi],
  ['iflow', async () => (await import('../formats/iflow.ts')).iflow],
  ['grok', async () => (await import('../formats/grok.ts')).grok],
  ['dsh', async () => (await import('../formats/dsh.ts')).dsh],
  ['openclaw-telemetry', async () => (await import('../formats/openclaw-telemetry.ts')).openclawTelemetry],
  ['codex-tui-log', async () => (await import('../formats/codex-tui-log.ts')).codexTuiLog],
  [
    'anthropic-managed-agents',
    async () => (await import('../formats/anthropic-managed-agents.ts')).anthropicManagedAgents,
  ],
  ['vercel-ui-messages', async () => (await import('../formats/vercel-ui-messages.ts')).vercelUiMessages],
  ['generic', async () => (await import('../formats/generic.ts')).generic],
  ['raw', async () => (await import('../formats/raw.ts')).raw],
])

export const LOADABLE: readonly string[] = [...LOADERS.keys()]

const loaded = new Map<string, Promise<Format>>()

export function loadFormat(id: string): Promise<Format> {
  const known = loaded.get(id)
  if (known !== undefined) return known
  const load = LOADERS.get(id)
  if (load === undefined)
    return Promise.reject(
      new HansardError('unknown-format', `there is no format ${id}`, { hint: 'hansard formats lists them' }),
    )
  const format = load()
  loaded.set(id, format)
  return format
}
