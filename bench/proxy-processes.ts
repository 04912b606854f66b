/** The processes of the proxy's benches: each says on stdout where it listens. */
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'

export const PARTS = join(import.meta.dirname, 'proxy-parts.js')

/** Its address. */
export function start(children: ChildProcess[], args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)))
    child.stdout?.once('data', (said: Buffer) => {
      const line = said.toString().trim()
      resolve(line.startsWith('http') ? line : `http://127.0.0.1:${line}`)
    })
  })
}
