/** A provider of someone else's: `node SCRIPT PORT LEDGER`, listening on 127.0.0.1 until it is ended. */
import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import type { Provider } from './provider.ts'

export async function startScript(script: string, ledger: string): Promise<Provider> {
  const port = await freePort()
  const child = spawn(process.execPath, [script, String(port), ledger], { stdio: 'ignore' })
  const exited = new Promise<void>((done) => child.on('exit', () => done()))
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 100; tries += 1) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isThere) break
    await new Promise((done) => setTimeout(done, 50))
  }
  return {
    url,
    async close() {
      child.kill()
      await exited
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => done(port))
    })
  })
}
