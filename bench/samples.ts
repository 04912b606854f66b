/** What the benches record and read: entries like those of real sessions, made by rule so that every run has the same. */
import type { Entry } from '../src/transcript/entry.ts'

/** Prose and code of about the length asked for. */
export function sampleText(length: number, seed: number): string {
  const words = [
    'const',
    'session',
    'the',
    'file',
    'returns',
    'await',
    'parse(line)',
    'error:',
    'tokens',
    '=>',
    '{ id }',
    '漢字',
    'naïve',
    '\n',
  ]
  let text = ''
  for (let at = seed; text.length < length; at = (at * 31 + 7) % 9973) text += `${words[at % words.length]} `
  return text.slice(0, length)
}

/** An assistant's answer of about 2 KB as JSON: text, a tool call, usage. */
export function sampleEntry(n: number, bytes = 2048): Entry {
  return {
    id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    parent: null,
    source: 'primary',
    sequence: n,
    kind: 'message',
    role: 'assistant',
    at: '2026-02-10T23:31:05.000Z',
    blocks: [
      { type: 'text', text: sampleText(Math.max(10, bytes - 700), n) },
      {
        type: 'tool-call',
        callId: `toolu_${n}`,
        name: 'read_file',
        input: { path: `src/module-${n % 97}.ts`, limit: 200 },
      },
    ],
    model: 'claude-opus-4-5',
    usage: { input: 1200, cacheRead: 800, output: 350, quality: 'reported' },
    call: { provider: 'anthropic', messageId: `msg_${n}` },
  }
}

/** A line as Claude Code 2.1 writes it: an answer's block, then the result of its call, of about 2 KB each. */
export function claudeLine(n: number): string {
  const id = (of: number): string => `00000000-0000-4000-8000-${String(of).padStart(12, '0')}`
  const call = `toolu_${n - (n % 2)}`
  const wrapper = {
    parentUuid: n === 0 ? null : id(n - 1),
    isSidechain: false,
    userType: 'external',
    cwd: '/home/me/project',
    sessionId: '11111111-1111-4111-8111-111111111111',
    version: '2.1.42',
    gitBranch: 'main',
    slug: 'calm-red-fox',
    uuid: id(n),
    timestamp: new Date(1_770_000_000_000 + n * 1000).toISOString(),
  }
  const output = `line ${n} of some file\n`.repeat(80)
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 412,
    cache_read_input_tokens: 40_000 + n,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 412 },
    output_tokens: 120,
    service_tier: 'standard',
  }
  const line =
    n % 2 === 0
      ? {
          ...wrapper,
          type: 'assistant',
          requestId: `req_${n}`,
          message: {
            model: 'claude-opus-4-5',
            id: `msg_${n}`,
            type: 'message',
            role: 'assistant',
            content: [
              { type: 'tool_use', id: call, name: 'Write', input: { file_path: '/p/a', content: output } },
            ],
            stop_reason: 'tool_use',
            stop_sequence: null,
            usage,
          },
        }
      : {
          ...wrapper,
          type: 'user',
          message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: output }] },
          toolUseResult: { stdout: output, stderr: '', interrupted: false, isImage: false },
          sourceToolAssistantUUID: id(n - 1),
        }
  return `${JSON.stringify(line)}\n`
}
