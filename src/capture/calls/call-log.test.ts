import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createCallLog } from './call-log.ts'
import { PARTS } from './call-parts.ts'

it('says at its end of how many answers nobody knows what they took, and how to know it', async () => {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'call-log-'))
  const said: string[] = []
  const calls = createCallLog({ home, onFailure: ({ message }) => said.push(message) })
  const usage = { prompt_tokens: 3, completion_tokens: 1 }
  for (const [at, isAsked] of [false, true, false].entries()) {
    const call = calls.begin({
      api: 'openai-chat',
      body: { model: 'gpt-5', stream: true, messages: [{ role: 'user', content: `question ${at}` }] },
      headers: {},
    })
    call.response({ status: 200, headers: { 'content-type': 'text/event-stream' } })
    const chunks = [
      { id: `c${at}`, choices: [{ index: 0, delta: { content: 'hi' }, finish_reason: 'stop' }] },
      ...(isAsked ? [{ id: `c${at}`, choices: [], usage }] : []),
    ]
    for (const chunk of chunks) call.chunk(Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`))
    call.chunk(Buffer.from('data: [DONE]\n\n'))
    call.ended()
  }
  const sessions = await calls.end()
  expect(sessions.map(({ totals }) => totals?.usage?.input)).toEqual([undefined, 3, undefined])
  expect(said).toEqual([expect.stringMatching(/^2 chat completions did not say .*include_usage$/)])
  fs.rmSync(home, { recursive: true, force: true })
})

it('holds nothing of the answer to a call that could not be asked', async () => {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'call-log-'))
  const said: string[] = []
  let readers = 0
  const calls = createCallLog(
    { home, onFailure: ({ message }) => said.push(message) },
    {
      ...PARTS,
      clientOf() {
        throw new Error('who is this')
      },
      createAnswerReader(...all) {
        readers += 1
        return PARTS.createAnswerReader(...all)
      },
    },
  )
  const call = calls.begin({ api: 'openai-chat', body: {}, headers: {} })
  call.response({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  call.chunk(Buffer.from('data: [DONE]\n\n'))
  call.ended()
  expect(await calls.end()).toEqual([])
  expect(said).toEqual([expect.stringContaining('who is this')])
  expect(readers).toBe(0)
  fs.rmSync(home, { recursive: true, force: true })
})
