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
