import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseJson } from '../../src/transcript/json.ts'
import { createReassembly, parseMessage } from '../../src/wire/apis.ts'
import type { WireApi, WireMessage } from '../../src/wire/message.ts'
import { createSseParser } from '../../src/wire/sse.ts'
import { countsOf, parseLedger } from './ledger.ts'
import type { Plays } from './play.ts'
import { startProvider, type Provider } from './provider.ts'

const PLAYS: Plays = {
  work: [
    { thinking: 'Hm.', say: 'Let me look.', tools: [{ tool: 'Bash', input: { command: 'ls' } }] },
    { say: 'Done.' },
  ],
  cut: [{ say: 'I was', fault: { how: 'cut', times: 1 } }],
  busy: [{ say: 'Now.', fault: { how: 529, times: 2 } }],
  full: [{ say: 'Full.', input: 190_000 }],
  remembers: [{ say: 'Yes.', hears: 'nine' }],
}
const TOOLS = [{ name: 'Bash' }]

let folder: string
let provider: Provider
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-provider-'))
  provider = await startProvider({ plays: PLAYS, ledger: join(folder, 'ledger') })
})
afterEach(async () => {
  await provider.close()
  rmSync(folder, { recursive: true })
})

const ledger = () => parseLedger(readFileSync(join(folder, 'ledger'), 'utf8'))
const post = (path: string, body: object): Promise<Response> =>
  fetch(`${provider.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
const messages = (prompt: string, more: object = {}): object => ({
  model: 'm',
  tools: TOOLS,
  messages: [{ role: 'user', content: prompt }],
  ...more,
})
const input = (prompt: string, ...items: readonly object[]): object => ({
  model: 'm',
  tools: [{ type: 'namespace', name: 'n', tools: TOOLS }],
  input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: prompt }] }, ...items],
})

describe.each([
  { api: 'anthropic-messages', path: '/v1/messages', ask: messages },
  { api: 'openai-responses', path: '/v1/responses', ask: input },
] as const)('$api', ({ api, path, ask }) => {
  /** What a reader of this API makes of a stream: another's eyes than the provider's. */
  const streamed = async (body: object) =>
    reassemble(api, await (await post(path, { ...body, stream: true })).text())

  it('says in a stream what the ledger has, to the token', async () => {
    const { usage, blocks } = await streamed(ask('play:work'))
    const [row] = ledger()
    expect(row).toBeDefined()
    expect(usage).toMatchObject({ ...(row && countsOf(row)), quality: 'reported' })
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool-call'])
  })

  it('says the same in one piece', async () => {
    const body = parseJson(await (await post(path, ask('play:work'))).text())
    const [row] = ledger()
    expect(parseMessage(api, body ?? null).usage).toMatchObject({ ...(row && countsOf(row)) })
  })

  it('gives every call counts of its own', async () => {
    for (let n = 0; n < 5; n += 1) await post(path, ask('play:work'))
    const outputs = ledger().map((row) => countsOf(row).output)
    expect(new Set(outputs).size).toBe(5)
  })
})

describe('a play', () => {
  it('goes on by the answers since its prompt, whoever asks', async () => {
    const since = [
      { role: 'user', content: 'play:work' },
      { role: 'assistant', content: [{ type: 'text', text: 'Let me look.' }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'play:cut' }] },
    ]
    const response = await post('/v1/messages', { ...messages(''), messages: since })
    expect(await response.json()).toMatchObject({ content: [{ type: 'text', text: 'Done.' }] })
  })

  it('takes items that follow each other for one answer', async () => {
    const said = { type: 'message', role: 'assistant', content: [] }
    const call = { type: 'function_call', call_id: 'c', name: 'Bash', arguments: '{}' }
    const response = await post(
      '/v1/responses',
      input('play:work', said, call, { type: 'function_call_output', call_id: 'c', output: '' }),
    )
    expect(await response.json()).toMatchObject({ output: [{ content: [{ text: 'Done.' }] }] })
  })

  it('bills nothing for what it refuses, and answers when the fault is over', async () => {
    const statuses = [1, 2, 3].map(async () => (await post('/v1/messages', messages('play:busy'))).status)
    expect((await Promise.all(statuses)).toSorted((a, b) => a - b)).toEqual([200, 529, 529])
    expect(ledger()).toHaveLength(1)
  })

  it('cuts a stream after its first block, and bills what the client was told', async () => {
    const response = await post('/v1/messages', { ...messages('play:cut'), stream: true })
    await expect(response.text()).rejects.toThrow()
    expect(ledger()).toMatchObject([{ cut: true, usage: { output_tokens: 2 } }])
  })

  it('makes a context full once', async () => {
    for (let n = 0; n < 2; n += 1) await post('/v1/messages', messages('play:full'))
    expect(ledger().map((row) => countsOf(row).input)).toEqual([190_000, 1022])
  })

  it('refuses who does not remember', async () => {
    expect((await post('/v1/messages', messages('play:remembers'))).status).toBe(400)
    expect((await post('/v1/messages', messages('It was nine. play:remembers'))).status).toBe(200)
  })

  it('calls no tool that is not on offer', async () => {
    const response = await post('/v1/messages', messages('play:work', { tools: [] }))
    expect(await response.json()).toMatchObject({ stop_reason: 'end_turn' })
  })
})

function reassemble(api: WireApi, text: string): WireMessage {
  const parser = createSseParser()
  const reassembly = createReassembly(api)
  for (const event of [...parser.push(Buffer.from(text)), ...parser.end()]) reassembly.push(event)
  return reassembly.end()
}
