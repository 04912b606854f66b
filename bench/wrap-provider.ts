/** A provider for `wrap.bench.ts`, in a thread of its own so that it takes none of the client's time. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

const event = (at: number): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion.chunk',
    model: 'gpt-bench',
    choices: [{ index: 0, delta: { content: ` word${at}` }, finish_reason: null }],
  })}\n\n`
const LAST = `data: ${JSON.stringify({
  id: 'chatcmpl-bench',
  model: 'gpt-bench',
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 },
})}\n\ndata: [DONE]\n\n`

const server = http.createServer((request, response) => {
  const asked = new URL(request.url ?? '', 'http://localhost').searchParams
  const count = Number(asked.get('events'))
  const pauseMs = Number(asked.get('pause'))
  request.resume()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  let at = 0
  const next = (): void => {
    if (at === count) return void response.end(LAST)
    response.write(event(at))
    at += 1
    if (pauseMs > 0) setTimeout(next, pauseMs)
    else setImmediate(next)
  }
  next()
})
server.listen(0, '127.0.0.1', () => parentPort?.postMessage((server.address() as AddressInfo).port))
