/** A provider that answers at once, or at the pace that it is asked for. */
import http from 'node:http'

/**
 * Answers as Anthropic does, with what the request's headers ask for: `x-stream` so many chunks, `x-every` so many milliseconds between
 * them, `x-phase` so many behind the beat that all streams of this provider share. Each chunk says when it was sent. `name` tells its messages from
 * those of other providers: a message is recorded as one call, whoever sent it.
 */
export function provider(name = ''): http.Server {
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
      const phase = Number(request.headers['x-phase'] ?? Number.NaN)
      if (chunks === 0) {
        const body = {
          ...message(`msg_${name}${serial}`),
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
        event({ type: 'message_start', message: message(`msg_${name}${serial}`) } as { type: string }) +
          event({
            type: 'content_block_start',
            index: 0,
            content_block: { type: 'text', text: '' },
          } as { type: string }),
      )
      let sent = 0
      const began = performance.now()
      const end = (): void => {
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
      const more = (): void => {
        while (sent < chunks) {
          sent += 1
          const delta = { type: 'text_delta', text: `${process.hrtime.bigint()} ` }
          const isRoom = response.write(
            event({ type: 'content_block_delta', index: 0, delta } as { type: string }),
          )
          // By the clock, not so long after the last: timers that fall due together would bring streams in step that were begun apart.
          if (!Number.isNaN(phase)) return onBeat(response, { chunks: chunks - 1, every, phase }, end)
          if (every > 0) return void setTimeout(more, Math.max(1, began + sent * every - performance.now()))
          if (!isRoom) return void response.once('drain', more)
        }
        end()
      }
      more()
    })
  })
}

const NO_TIME = '0'.repeat(16)

/**
 * A chunk at each moment of the beat. The provider stands for another machine, so it should take next to nothing of this one: the chunk
 * lies ready, framing and all, it is told in its place when it is sent, and to write it is the last thing that is done for it.
 */
function onBeat(
  { socket }: http.ServerResponse,
  { chunks, every, phase }: { readonly chunks: number; readonly every: number; readonly phase: number },
  over: () => void,
): void {
  const delta = { type: 'text_delta', text: `${NO_TIME} ` }
  const data = JSON.stringify({ type: 'content_block_delta', index: 0, delta })
  const event = `event: content_block_delta\ndata: ${data}\n\n`
  const chunk = Buffer.from(`${event.length.toString(16)}\r\n${event}\r\n`)
  const at = chunk.indexOf(NO_TIME)
  const now = performance.now()
  const began = now - ((now + every - phase) % every)
  let sent = 0
  const next = (): void => {
    sent += 1
    const after = sent < chunks ? next : over
    setTimeout(after, Math.max(1, began + (sent + 1) * every - performance.now()))
    chunk.write(process.hrtime.bigint().toString().padStart(NO_TIME.length, '0'), at, 'latin1')
    socket?.write(chunk)
  }
  setTimeout(next, Math.max(1, began + every - now))
}
