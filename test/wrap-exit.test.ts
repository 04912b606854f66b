/** What a program has been answered is recorded however it ends: with nothing left to do, at once, or killed. */
import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BIN } from './program.ts'
import { chatAnswer, spoken, startUpstream, type Upstream } from './wrap-upstream.ts'

const library = pathToFileURL(join(dirname(BIN), '../src/capture/wrap/fetch.js')).href
const recordings = pathToFileURL(join(dirname(BIN), '../src/capture/wrap/recording.js')).href
let upstream: Upstream

beforeEach(async () => {
  upstream = await startUpstream()
  upstream.answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('c1', 'yes'))
})
afterEach(() => upstream.close())

/** Runs a program that is killed as soon as its call has returned, and gives what it printed and what was recorded. */
async function killed(call: string): Promise<{ printed: string; said: readonly string[] }> {
  const program = join(upstream.home, 'program.mjs')
  writeFileSync(
    program,
    `import { writeSync } from 'node:fs'
import { recording } from ${JSON.stringify(recordings)}
const recorded = recording({ home: ${JSON.stringify(upstream.home)} })
const ask = () => recorded.fetch(${JSON.stringify(`${upstream.url}/v1/chat/completions`)}, {
  method: 'POST',
  body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
})
const part = { type: 'text', text: 'yes' }
const stream = async () => ({ stream: ReadableStream.from([{ type: 'text-delta', id: '1', delta: 'yes' }]) })
const model = recorded.model({
  modelId: 'm', provider: 'p', doStream: stream, doGenerate: async () => ({ content: [part] }),
})
const prompt = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
let text = ''
${call}
writeSync(1, text)
process.kill(process.pid, 'SIGKILL')
`,
  )
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk))
  const signal = await new Promise((done) => child.once('close', (_, how) => done(how)))
  expect(signal).toBe('SIGKILL')
  const [entries = []] = await upstream.sessions()
  return { printed, said: spoken(entries) }
}

describe('a program that is killed when its call has returned', () => {
  it.each([
    ['a whole answer', 'text = (await (await ask()).json()).choices[0].message.content'],
    ['a body', "for await (const chunk of (await ask()).body) text += Buffer.from(chunk); text = 'yes'"],
    [
      'a reader',
      `const reader = (await ask()).body.getReader()
while (!(await reader.read()).done) text = 'yes'`,
    ],
    ['a model', 'text = (await model.doGenerate({ prompt })).content[0].text'],
    [
      'a model’s stream',
      'for await (const { delta } of (await model.doStream({ prompt })).stream) text += delta',
    ],
  ])('has the answer of %s in the record', async (_, call) => {
    expect(await killed(call)).toEqual({ printed: 'yes', said: ['user: hi', 'assistant: yes'] })
  })
})

describe('a program that ends', () => {
  it.each([
    ['with nothing left to do', ''],
    ['at once, when it has its answer', 'process.exit(0)'],
  ])('%s has all that it was answered in the record', async (_, last) => {
    const program = join(upstream.home, 'program.mjs')
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    writeFileSync(
      program,
      `import { recordedFetch } from ${JSON.stringify(library)}
const fetch = recordedFetch(undefined, { home: ${JSON.stringify(upstream.home)} })
const url = ${JSON.stringify(`${upstream.url}/v1/chat/completions`)}
const response = await fetch(url, { method: 'POST', body: ${JSON.stringify(body)} })
console.log((await response.json()).id)
${last}
`,
    )
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program])
    expect([stdout, stderr]).toEqual(['c1\n', ''])
    const [entries = []] = await upstream.sessions()
    expect(spoken(entries)).toEqual(['user: hi', 'assistant: yes'])
  })
})
