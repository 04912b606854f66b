/**
 * What each folder of a corpus holds, so that detection can be judged: the format its files are in, or none that is read. A file
 * that cannot say whose it is on its own (a hash, a part without its session) is an exception, and is expected to be unknown.
 */
import type { Coverage } from './coverage.ts'

export type Verdict = 'right' | 'wrong' | 'unknown as expected'

/** By folder. What is not named here is expected to be unknown. */
const FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  // Streams of events are captures, of whichever API.
  ['anthropic-messages', ['anthropic-messages', 'provider-sse']],
  ['claude-code', ['claude-code']],
  ['cline', ['cline']],
  ['codex', ['codex']],
  ['copilot-cli', ['copilot-cli']],
  ['cursor', ['cursor']],
  // A checkpoint's transcript is the agent's own document: told as that agent's, or as the compact one that Entire makes of it.
  ['entire', ['entire', 'opencode']],
  ['flow-studio', ['swarm']],
  ['gemini-cli', ['gemini-cli']],
  ['gemini-stream-json', ['gemini-stream-json']],
  ['grok', ['grok']],
  ['iflow', ['iflow']],
  ['kimi', ['kimi']],
  ['qwen', ['qwen']],
  ['anthropic-managed-agents', ['anthropic-managed-agents']],
  ['codex-tui-log', ['codex-tui-log']],
  ['dsh', ['dsh']],
  ['openclaw-telemetry', ['openclaw-telemetry']],
  ['vercel-ui-messages', ['vercel-ui-messages']],
  // gptme, Mistral's vibe and Posit's assistant: nobody's format here, and messages all the same.
  ['misc-agents', ['generic']],
  ['gemini-contents', ['gemini-contents']],
  // Batches for Bedrock hold Anthropic's requests; text with roles in it is nobody's own.
  ['openai-chat', ['openai-chat', 'anthropic-messages', 'provider-sse', 'generic']],
  // An error of the two APIs reads alike.
  ['openai-responses', ['openai-responses', 'openai-chat', 'provider-sse']],
  // OpenClaw's sessions are written by pi's own code.
  ['openclaw', ['pi']],
  ['opencode', ['opencode']],
  ['openhands', ['openhands']],
  ['openinference', ['otel']],
  ['otel', ['otel']],
  ['aider', ['aider']],
  ['hermes', ['hermes']],
  ['antigravity', ['antigravity']],
  ['droid', ['droid']],
  ['langsmith', ['langsmith']],
  ['inspect-ai', ['inspect']],
  ['inspect-events', ['inspect']],
  ['atof', ['atof']],
  ['atif', ['atif']],
  ['mini-swe-agent', ['mini-swe-agent']],
  ['swe-agent', ['swe-agent']],
  ['pi', ['pi']],
])

/** Files of a format's folder that say nothing of themselves. */
const SILENT: readonly RegExp[] = [
  /^entire\/.*content_hash\.txt$/,
  /^opencode\/.*\/migration$/,
  /^misc-agents\/.*\.json$/,
  // What an agent wrote for people to read.
  /^antigravity\/.*\.md$/,
]

/** `raw` stands for unknown. */
export function judge({ file, format }: Pick<Coverage, 'file' | 'format'>): Verdict {
  const path = file.replaceAll('\\', '/')
  const expected = FORMATS.get(path.slice(0, Math.max(0, path.indexOf('/'))))
  const isSilent = expected === undefined || SILENT.some((pattern) => pattern.test(path))
  if (isSilent) return format === 'raw' ? 'unknown as expected' : 'wrong'
  return expected.includes(format) ? 'right' : 'wrong'
}
