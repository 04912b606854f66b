import { spawn } from 'node:child_process'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProxy, type Proxy } from '../src/capture/proxy/proxy.ts'
import { toUpstreams } from '../src/capture/proxy/upstreams.ts'
import { BIN, temporaryFolder } from './program.ts'
import { answerOf, ask, sessionsIn, startProvider, type Provider } from './proxy-provider.ts'

/** Of the build: a thread's script cannot be run from the sources. */
const RECORDER = pathToFileURL(join(dirname(BIN), 'recorder-worker.js'))
const BREAKING = pathToFileURL(join(dirname(BIN), '../test/proxy-breaking-recorder.js'))
const BUILT = pathToFileURL(join(dirname(BIN), '../src/capture/proxy/')).href

let home: string
let provider: Provider
beforeEach(async () => {
  home = temporaryFolder()
  provider = await startProvider()
})
afterEach(async () => {
  await provider.close()
  fs.rmSync(home, { recursive: true, force: true })
})

const textsOf = async (role: string): Promise<unknown[]> => {
  const { entries } = await sessionsIn(home)
  return entries.flatMap((entry) =>
    entry.role === role ? entry.blocks.map((block) => (block.type === 'text' ? block.text : '')) : [],
  )
}

describe('the recorder’s thread', () => {
  it('has everything that passed when the proxy is closed', async () => {
    const proxy = await startProxy({
      upstreams: toUpstreams([`anthropic=${provider.url}`]),
      home,
      recorder: { script: RECORDER },
    })
    await Promise.all(Array.from({ length: 40 }, (_, n) => ask(proxy.url, n * 2)))
    const sessions = await proxy.close()
    expect(sessions.map(({ status }) => status)).toEqual(sessions.map(() => 'completed'))
    expect(await textsOf('user')).toHaveLength(40)
    expect(new Set(await textsOf('assistant'))).toEqual(
      new Set(Array.from({ length: 40 }, (_, n) => `answer ${n * 2}`)),
    )
  })

  it('is followed by another when it dies, and that it died is said once', async () => {
    const said: string[] = []
    const failed = new Int32Array(new SharedArrayBuffer(4))
    const proxy: Proxy = await startProxy({
      upstreams: toUpstreams([`anthropic=${provider.url}`]),
      home,
      recorder: { script: BREAKING, data: { failure: 'thread.throws', failed }, restMs: 0 },
      onFailure: ({ message }) => said.push(message),
    })
    // Each dies of its first call; those that come before that is known go unrecorded.
    for (let call = 0; Atomics.load(failed, 0) < 3; call += 2) {
      expect(await ask(proxy.url, call)).toBe(answerOf(call).body)
      await new Promise((done) => setTimeout(done, 50))
    }
    await proxy.close()
    expect(said).toEqual([expect.stringContaining('thread.throws happens')])
  })
})

describe('a process that ends with calls that nobody waited for', () => {
  const ending = {
    'calls exit': `process.exit(0)`,
    'dies of a signal': `process.kill(process.pid, 'SIGTERM'); await new Promise((done) => setTimeout(done, 5000))`,
    fails: `throw new Error('of its own')`,
  }
  for (const [how, end] of Object.entries(ending))
    it(`has them in the archive when it ${how}`, async () => {
      const program = `
        import { startProxy } from '${BUILT}proxy.js'
        import { toUpstreams } from '${BUILT}upstreams.js'
        const proxy = await startProxy({ upstreams: toUpstreams(['anthropic=${provider.url}']), home: process.env.ARCHIVE })
        const body = JSON.stringify({ model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'question 0' }] })
        const answer = await fetch(proxy.url + '/v1/messages', { method: 'POST', headers: { 'x-call': '0' }, body })
        await answer.text()
        ${end}`
      const file = join(home, 'program.mjs')
      fs.writeFileSync(file, program)
      const child = spawn(process.execPath, [file], {
        env: { ...process.env, ARCHIVE: home },
        stdio: 'ignore',
      })
      await new Promise((done) => child.on('exit', done))
      expect(await textsOf('user')).toEqual(['question 0'])
      expect(await textsOf('assistant')).toEqual(['answer 0'])
      expect((await sessionsIn(home)).statuses).toEqual(['interrupted'])
    })

  it('has them, and its sessions ended, when it is the program and is told to stop', async () => {
    const args = [BIN, 'proxy', '--home', home, '--upstream', `anthropic=${provider.url}`]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stderr.on('data', (chunk) => (said += String(chunk)))
    const url = await new Promise<string>((done) =>
      child.stdout.once('data', (line) => done(String(line).trim())),
    )
    await Promise.all([0, 2, 4].map((call) => ask(url, call)))
    child.kill('SIGTERM')
    expect(await new Promise((done) => child.on('close', done))).toBe(0)
    expect(await textsOf('assistant')).toHaveLength(3)
    expect((await sessionsIn(home)).statuses).toEqual(['completed', 'completed', 'completed'])
    expect(said).toContain('3 sessions')
    expect(said).toMatch(
      /\d parts of answers passed on within [\d.,]+ µs of our reading at the median, [\d.,]+ for 99 of 100/,
    )
  })
})
