/**
 * A provider of one's own, recorded by the proxy and served again: what the tests of a served recording begin with. `answer` is what the
 * provider says, and may be changed at any time.
 */
import fs from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import { join } from 'node:path'
import { startProxy } from '../src/capture/proxy/proxy.ts'
import { toUpstreams } from '../src/capture/proxy/upstreams.ts'
import { openRecording, type Recording } from '../src/playback/recording.ts'
import { serveRecording, type ReplayServer, type ServeOptions } from '../src/playback/server.ts'
import type { Session } from '../src/transcript/session.ts'

export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void

export type Recorded = {
  readonly home: string
  answer: Answer
  /** What `ask` asks of the proxy at the address that it is given; the session that came of it. */
  record(ask: (url: string) => Promise<void>): Promise<Session | undefined>
  replay(id: string, options?: ServeOptions): Promise<ReplayServer>
  close(): Promise<void>
}

export async function createRecorded(answer: Answer): Promise<Recorded> {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-recorded-'))
  const open: { readonly recording: Recording; readonly server: ReplayServer }[] = []
  const upstream = http.createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => recorded.answer(request, response, body))
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const recorded: Recorded = {
    home,
    answer,
    async record(ask) {
      const upstreams = toUpstreams([`anthropic=${url}`, `openai=${url}`, `google=${url}`])
      const proxy = await startProxy({ upstreams, home, runId: 'run-1' })
      await ask(proxy.url)
      const [session] = await proxy.close()
      return session
    },
    async replay(id, options = {}) {
      const recording = await openRecording(id, home)
      const server = await serveRecording(recording, options)
      open.push({ recording, server })
      return server
    },
    async close() {
      for (const { server, recording } of open) {
        await server.close()
        recording.close()
      }
      upstream.closeAllConnections()
      upstream.close()
      fs.rmSync(home, { recursive: true, force: true })
    },
  }
  return recorded
}
