import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openArchive } from '../../archive/archive.ts'
import { readSession } from '../../archive/read-session.ts'
import { UNFINISHED } from '../../journal/unanswered.ts'
import type { Entry } from '../../transcript/entry.ts'
import type { OpenCall } from './call.ts'
import { createCallLog, type CallLog } from './call-log.ts'

let home: string
let calls: CallLog
beforeEach(() => {
  home = fs.mkdtempSync(join(os.tmpdir(), 'unfinished-'))
  calls = createCallLog({ home, agent: 'test' })
})
afterEach(async () => {
  await calls.end()
  fs.rmSync(home, { recursive: true, force: true })
})

const event = (value: { readonly type: string } & Record<string, unknown>): Buffer =>
  Buffer.from(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`)
const word = (text: string): Buffer =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })

function begin(question: string): OpenCall {
  const call = calls.begin({
    api: 'anthropic-messages',
    body: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: question }] },
    headers: {},
  })
  call.response({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  const usage = { input_tokens: 3, output_tokens: 1 }
  call.chunk(event({ type: 'message_start', message: { id: 'm1', role: 'assistant', content: [], usage } }))
  call.chunk(event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }))
  return call
}

function beside(): string | undefined {
  const sessions = join(home, 'sessions')
  const [id] = fs.existsSync(sessions) ? fs.readdirSync(sessions) : []
  const path = join(sessions, id ?? '', UNFINISHED)
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : undefined
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000 && !isTrue(); tries += 1) await new Promise((done) => setTimeout(done, 5))
  expect(isTrue()).toBe(true)
}

async function entries(): Promise<Entry[]> {
  const archive = openArchive(home)
  const found: Entry[] = []
  for await (const items of readSession(archive, archive.ids()[0] ?? ''))
    for (const item of items) if (item.type === 'entry') found.push(item.entry)
  return found
}

describe('an answer that is still coming', () => {
  it('lies beside its session without its last word, which may be half a secret, and goes when it is over', async () => {
    const key = `sk-ant-api03-${'A1b2'.repeat(22)}AA`
    const call = begin('one')
    call.chunk(word('The key is '))
    call.chunk(word(key.slice(0, 30)))
    await until(() => beside()?.includes('The key is ') === true)
    expect(beside()).not.toContain('sk-ant')
    call.chunk(word(`${key.slice(30)} and `))
    await until(() => beside()?.includes(' and ') === true)
    expect(beside()).toMatch(/\[REDACTED:anthropic-api-key:\w+\] and /)
    expect(beside()).not.toContain(key.slice(0, 20))
    call.ended()
    await until(() => beside() === undefined)
  })

  it('is recorded as broken off, by us, where recording ends before it does', async () => {
    const call = begin('one')
    call.chunk(word('half an ans'))
    const [session] = await calls.end()
    call.chunk(word('wer'))
    call.ended()
    expect(beside()).toBeUndefined()
    const found = await entries()
    const answer = found.find(({ role }) => role === 'assistant')
    expect(answer).toMatchObject({
      blocks: [{ text: 'half an ans' }],
      usage: { quality: 'partial' },
      metadata: { brokenBy: 'recorder' },
    })
    expect(found.at(-1)?.blocks).toMatchObject([{ type: 'error', code: 'broken-by-recorder' }])
    expect(session).toMatchObject({ status: 'interrupted', totals: { calls: 1 } })
  })

  it('is recorded with what has come of it when the process goes down', async () => {
    const call = begin('one')
    call.chunk(word('half an ans'))
    await until(() => fs.existsSync(join(home, 'sessions')))
    await new Promise((done) => setTimeout(done, 50))
    calls.leave()
    call.ended()
    expect((await entries()).map(({ blocks }) => blocks[0])).toMatchObject([
      { text: 'one' },
      {},
      { text: 'half an ans' },
      { type: 'error' },
    ])
  })
})
