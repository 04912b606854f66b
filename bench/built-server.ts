/** The built program's server as users start it, asked over its port. */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'

export const BIN = process.env['HANSARD_BIN'] ?? join(import.meta.dirname, '../bin/hansard.js')

export type BuiltServer = {
  readonly child: ChildProcess
  readonly origin: string
  readonly port: number
  /** Opens the page in one browser, once. */
  readonly url: string
  readonly token: string
  /** Of the API, as JSON. */
  get(path: string): Promise<unknown>
  end(): Promise<void>
}

export type BuiltOptions = {
  readonly follow: boolean
  /** In place of the user's: agents' logs are looked for below it. */
  readonly userHome?: string
}

export async function startBuilt(home: string, { follow, userHome }: BuiltOptions): Promise<BuiltServer> {
  const flags = follow ? [] : ['--no-sync']
  const child = spawn(process.execPath, [BIN, 'serve', ...flags, '--json', '--port', '0', '--home', home], {
    stdio: ['ignore', 'pipe', 'ignore'],
    ...(userHome !== undefined && { env: { PATH: process.env['PATH'], HOME: userHome }, cwd: userHome }),
  })
  const said = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes('}')) resolve(text)
    })
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  const { origin, port, url, tokenFile } = JSON.parse(said) as {
    origin: string
    port: number
    url: string
    tokenFile: string
  }
  const token = fs.readFileSync(tokenFile, 'utf8').trim()
  return {
    child,
    origin,
    port,
    url,
    token,
    async get(path) {
      const response = await fetch(`${origin}/api/v1${path}`, {
        headers: { authorization: `Bearer ${token}`, connection: 'close' },
      })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      return response.json()
    },
    end: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.kill()
      }),
  }
}

/** Megabytes that are in memory. */
export function rssOf({ pid }: ChildProcess): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024
}
