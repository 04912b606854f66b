/** What a program has been answered is recorded however it ends: with nothing left to do, or at once. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BIN } from './program.ts'
import { chatAnswer, spoken, startUpstream, type Upstream } from './wrap-upstream.ts'

const library = pathToFileURL(join(dirname(BIN), '../src/capture/wrap/fetch.js')).href
let upstream: Upstream

beforeEach(async () => {
  upstream = await startUpstream()
  upstream.answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(chatAnswer('c1', 'yes'))
})
afterEach(() => upstream.close())

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
