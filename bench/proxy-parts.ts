/**
 * The other processes of the proxy's bench, each started as `node proxy-parts.js ROLE …` and saying its port on stdout: a provider that
 * answers at once, and the least that anybody could put in between.
 */
import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'

const [role, target = ''] = process.argv.slice(2)
if (role === 'provider') listen(provider())
if (role === 'bare-provider') listen(bareProvider())
if (role === 'tee') listen(tee(target))

function listen(server: http.Server | net.Server): void {
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
}

/**
 * Answers as Anthropic does, with what the request's headers ask for: `x-stream` so many chunks, `x-every` so many milliseconds between
 * them. Each chunk says when it was sent.
 */
function provider(): http.Server {
  const text = 'word '.repeat(350)
  const message = (id: string): object => ({
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [],
    usage: { input_tokens: 10, output_tokens: 1 },
  })
  let serial = 0
  return http.createServer((request, response) => {
    request.resume().on('end', () => {
      serial += 1
      const chunks = Number(request.headers['x-stream'] ?? 0)
      const every = Number(request.headers['x-every'] ?? 0)
      if (chunks === 0) {
        const body = {
          ...message(`msg_${serial}`),
          content: [{ type: 'text', text }],
          stop_reason: 'end_turn',
        }
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
        return
      }
      const event = (value: { readonly type: string }): string =>
        `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        event({ type: 'message_start', message: message(`msg_${serial}`) } as { type: string }) +
          event({
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'text', text: '' },
          } as { type: string }),
      )
      let sent = 0
      const began = performance.now()
      const more = (): void => {
        while (sent < chunks) {
          sent += 1
          const delta = { type: 'text_delta', text: `${process.hrtime.bigint()} ` }
          const isRoom = response.write(
            event({ type: 'content_block_delta', index: 0, delta } as { type: string }),
          )
          // By the clock, not so long after the last: timers that fall due together would bring streams in step that were begun apart.
          if (every > 0) return void setTimeout(more, Math.max(1, began + sent * every - performance.now()))
          if (!isRoom) return void response.once('drain', more)
        }
        response.end(
          event({ type: 'content_block_stop', index: 0 } as { type: string }) +
            event({
              type: 'message_delta',
              delta: { stop_reason: 'end_turn' },
              usage: { output_tokens: chunks },
            } as { type: string }) +
            event({ type: 'message_stop' }),
        )
      }
      more()
    })
  })
}

/** The same answer, whole, from a bare socket: it takes hardly anything of the machine. */
function bareProvider(): net.Server {
  let serial = 0
  return net.createServer((socket) => {
    let got = ''
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      got += chunk.toString('latin1')
      const end = got.indexOf('\r\n\r\n')
      const length = end === -1 ? undefined : /content-length: (\d+)/i.exec(got)?.[1]
      if (length === undefined || got.length < end + 4 + Number(length)) return
      got = ''
      serial += 1
      const usage = '"usage":{"input_tokens":10,"output_tokens":1}'
      const content = `[{"type":"text","text":"${'word '.repeat(350)}"}]`
      const body = `{"id":"msg_bare_${serial}","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":${content},${usage},"stop_reason":"end_turn"}`
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      )
    })
  })
}

/** Bytes on, and a copy appended to a file that is synced every 20 ms. */
function tee(upstream: string): http.Server {
  const { hostname, port } = new URL(upstream)
  const agent = new http.Agent({ keepAlive: true })
  const file = fs.openSync(process.argv[4] as string, 'a')
  let held: Buffer[] = []
  setInterval(() => {
    if (held.length === 0) return
    fs.writevSync(file, held)
    held = []
    fs.fdatasync(file, () => {})
  }, 20)
  return http.createServer((request, response) => {
    const sent = http.request(
      { agent, hostname, port, method: request.method, path: request.url, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.on('data', (chunk: Buffer) => {
          response.write(chunk)
          held.push(chunk)
        })
        answer.on('end', () => response.end())
      },
    )
    request.on('data', (chunk: Buffer) => {
      sent.write(chunk)
      held.push(chunk)
    })
    request.on('end', () => sent.end())
  })
}
