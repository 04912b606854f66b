/**
 * The other processes of the proxy's bench, each started as `node proxy-parts.js ROLE …` and saying its port on stdout: a provider that
 * answers at once, and the least that anybody could put in between.
 */
import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { provider } from './proxy-provider.ts'

const [role, target = ''] = process.argv.slice(2)
if (role === 'provider') listen(provider())
if (role === 'bare-provider') listen(bareProvider())
if (role === 'tee') listen(tee(target))

function listen(server: http.Server | net.Server): void {
  if ('keepAliveTimeout' in server) server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
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
