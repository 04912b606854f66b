/** The peer that the proxy is measured against: `@portkey-ai/gateway` of npm, put in a folder that goes again. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { join } from 'node:path'

export type Portkey = {
  readonly version: string
  readonly url: string
  /** Say where it should send what it is asked. */
  readonly headers: Readonly<Record<string, string>>
  readonly child: ChildProcess
}

/** Undefined where it cannot be had: there is no registry. */
export async function startPortkey(folder: string, upstream: string): Promise<Portkey | undefined> {
  fs.mkdirSync(folder, { recursive: true })
  // With the newest that it allows, every stream of it fails on Node.js 20.
  const overrides = { '@hono/node-server': '1.3.3' }
  fs.writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, overrides }))
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '@portkey-ai/gateway']
  if (spawnSync('npm', install, { cwd: folder, timeout: 120_000 }).status !== 0) return undefined
  const root = join(folder, 'node_modules/@portkey-ai/gateway')
  const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const port = await freePort()
  const child = spawn(
    process.execPath,
    [join(root, 'build/start-server.js'), `--port=${port}`, '--headless'],
    {
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
    },
  )
  const url = `http://127.0.0.1:${port}`
  const headers = {
    'content-type': 'application/json',
    authorization: 'Bearer none',
    'x-portkey-provider': 'anthropic',
    'x-portkey-custom-host': `${upstream}/v1`,
    'x-portkey-forward-headers': 'x-stream,x-every',
  }
  for (let tries = 0; tries < 100; tries += 1) {
    if (await answers(url)) return { version, url, headers, child }
    await new Promise((done) => void setTimeout(done, 100))
  }
  child.kill('SIGKILL')
  return undefined
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    http
      .get(url, (response) => {
        response.resume()
        resolve(true)
      })
      .on('error', () => resolve(false))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
