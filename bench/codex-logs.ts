/** A rollout as Codex leaves it: answers, calls of tools with their outputs, and a count after each call of the provider. */
import fs from 'node:fs'
import { sampleText } from './samples.ts'

const THREAD = '01990000-9000-7000-8000-00000000000b'
export const CODEX_LOG = `.codex/sessions/2026/02/10/rollout-2026-02-10T10-00-01-${THREAD}.jsonl`

/** Of about the size asked for, in pieces. */
export function writeCodexLog(path: string, bytes: number): void {
  const meta = { id: THREAD, timestamp: timeOf(0), cwd: '/p', cli_version: '0.135.0', source: 'cli' }
  const turn = { cwd: '/p', model: 'gpt-5', turn_id: '01990000-9001-7000-8000-00000000000d' }
  fs.writeFileSync(path, toLine(0, 'session_meta', meta) + toLine(0, 'turn_context', turn))
  const fd = fs.openSync(path, 'a')
  try {
    for (let [n, written] = [1, 0]; written < bytes;) {
      let text = ''
      for (; text.length < 1_000_000; n += 1) text += codexLineOf(n)
      written += fs.writeSync(fd, text)
    }
  } finally {
    fs.closeSync(fd)
  }
}

export function codexLineOf(n: number): string {
  const call = `call_${Math.floor(n / 4)}`
  const done = Math.floor(n / 4) + 1
  switch (n % 4) {
    case 0:
      return item(n, {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: sampleText(800, n) }],
      })
    case 1:
      return item(n, {
        type: 'function_call',
        name: 'exec_command',
        arguments: '{"cmd":"ls"}',
        call_id: call,
      })
    case 2:
      return item(n, { type: 'function_call_output', call_id: call, output: sampleText(4000, n) })
    default:
      return toLine(n, 'event_msg', {
        type: 'token_count',
        info: { total_token_usage: counts(done), last_token_usage: counts(1) },
        rate_limits: null,
      })
  }
}

const counts = (calls: number): object => ({
  input_tokens: 1000 * calls,
  cached_input_tokens: 800 * calls,
  output_tokens: 50 * calls,
  reasoning_output_tokens: 10 * calls,
  total_tokens: 1050 * calls,
})

const timeOf = (n: number): string => new Date(1_770_000_000_000 + n * 1000).toISOString()

const item = (n: number, payload: object): string => toLine(n, 'response_item', payload)

function toLine(n: number, type: string, payload: object): string {
  return `${JSON.stringify({ timestamp: timeOf(n), type, payload })}\n`
}
