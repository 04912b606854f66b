// The same answers through the recording proxy, with the SDKs as they are: what the proxy records equals what they put together from the
// bytes that it passed on, packed and not.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { askAll, compareAll, startProvider } from './shared-answers.mjs'
import { options } from './shared.mjs'

const provider = await startProvider({ packed: true })
const program = join(import.meta.dirname, 'node_modules/hansard/dist/bin/hansard.js')
const upstreams = ['anthropic', 'openai'].flatMap((name) => ['--upstream', `${name}=${provider.url}`])
const proxy = spawn(process.execPath, [program, 'proxy', '--home', options.home, ...upstreams], {
  stdio: ['ignore', 'pipe', 'ignore'],
})
const url = await new Promise((done) => proxy.stdout.once('data', (line) => done(String(line).trim())))
const anthropic = new Anthropic({ apiKey: 'sk-ant-test', baseURL: `${url}/anthropic` })
const openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${url}/openai/v1` })
const wanted = await askAll({ anthropic, openai }, 500)
const ended = new Promise((done) => proxy.on('exit', done))
proxy.kill('SIGTERM')
await ended
provider.close()
await compareAll(wanted)
