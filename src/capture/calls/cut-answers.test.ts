import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fakeKeys, githubToken } from '../../../test/fake-keys.ts'
import { createCallLog, type CallLog } from './call-log.ts'

let home: string
let calls: CallLog
beforeEach(() => {
  home = fs.mkdtempSync(join(os.tmpdir(), 'cut-answers-'))
  calls = createCallLog({ home, agent: 'test' })
})
afterEach(async () => {
  await calls.end()
  fs.rmSync(home, { recursive: true, force: true })
})

const event = (value: { readonly type: string } & Record<string, unknown>): Buffer =>
  Buffer.from(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`)

/** Streams the beginning of an answer, a few characters at a time. */
function stream(question: string, deltas: readonly object[]) {
  const call = calls.begin({
    api: 'anthropic-messages',
    body: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: question }] },
    headers: {},
  })
  call.response({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  const usage = { input_tokens: 3, output_tokens: 1 }
  call.chunk(
    event({ type: 'message_start', message: { id: question, role: 'assistant', content: [], usage } }),
  )
  for (const one of deltas) call.chunk(event(one as { readonly type: string }))
  return call
}

const pieces = (text: string): string[] => text.match(/[^]{1,5}/g) ?? []
const inText = (text: string): object[] => [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...pieces(text).map((piece) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: piece },
  })),
]
const inCall = (json: string): object[] => [
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 't1', name: 'bash', input: {} },
  },
  ...pieces(json).map((piece) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: piece },
  })),
]

/** All that is on disk, and what tapes hold in base64. */
function onDisk(): string {
  const sessions = join(home, 'sessions')
  const all = fs
    .readdirSync(sessions, { recursive: true, encoding: 'utf8' })
    .map((name) => join(sessions, name))
    .filter((path) => fs.statSync(path).isFile())
    .map((path) => fs.readFileSync(path, 'utf8'))
    .join('\n')
  const tapes = all
    .split('\n')
    .filter((line) => line.includes('"chunks":['))
    .map((line) =>
      (JSON.parse(line) as { chunks: [number, string][] }).chunks
        .map(([, data]) => Buffer.from(data, 'base64').toString())
        .join(''),
    )
  // As a reader of the stream puts it together.
  const words = tapes.map((tape) =>
    [...tape.matchAll(/"(?:text|partial_json)":"([^"]*)"/g)].map(([, one]) => one).join(''),
  )
  return [all, ...words].join('\n')
}

describe('an answer that breaks off inside a key', () => {
  it.each<['client' | 'upstream', number]>([
    ['client', 0.4],
    ['client', 0.8],
    ['upstream', 0.6],
  ])(
    'leaves nothing of it on disk when the %s ends it at %d of its length',
    async (by: 'client' | 'upstream', share: number) => {
      const cuts = fakeKeys().map(([, key]) => key.slice(0, Math.ceil(key.length * share)))
      for (const [index, cut] of cuts.entries()) {
        const deltas = index % 2 === 0 ? inText(`The key is ${cut}`) : inCall(`{"command":"export KEY=${cut}`)
        stream(`q${index}`, deltas).broken(by, 'aborted')
      }
      await calls.end()
      const disk = onDisk()
      expect(disk).toContain('The key is [REDACTED:')
      for (const cut of cuts) expect(disk, cut).not.toContain(cut.slice(-6))
    },
  )

  it('leaves nothing of it either when the limit of tokens ends it', async () => {
    const cut = githubToken(3).slice(0, 20)
    const end = [
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ]
    stream('q', [...inText(`The key is ${cut}`), ...end]).ended()
    await calls.end()
    expect(onDisk()).toContain('The key is [REDACTED:github-token:')
    expect(onDisk()).not.toContain(cut.slice(-6))
  })

  it('has its tape all the same where there is no key', async () => {
    stream('q', inText('half an ans')).broken('client', 'aborted')
    await calls.end()
    expect(onDisk()).toContain('"chunks":[')
  })
})
