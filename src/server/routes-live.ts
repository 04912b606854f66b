/**
 * What happens, told as it does: server-sent events, written straight to each connection. A listener that does not read is let go,
 * and told what it missed when it comes back.
 */
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { fail } from './answers.ts'
import type { App, AppContext } from './context.ts'
import type { Listener } from './live.ts'

/** Bytes that may wait for a listener. */
const MOST_WAITING = 1024 * 1024
const MOST_LISTENERS = 3000

export function registerLive(app: App, { hub }: AppContext): void {
  app.get('/api/v1/live', (c) => {
    if (hub.listeners >= MOST_LISTENERS)
      return fail(c, 429, { code: 'too-many', message: 'too many are listening', hint: 'close some pages' })
    // There is no other way for a request to come here than by a connection.
    const { outgoing } = c.env as HttpBindings
    const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' }
    if (c.req.method === 'HEAD') return c.body(null, 200, headers)
    outgoing.writeHead(200, headers)
    outgoing.socket?.setNoDelay(true)
    const listener: Listener = {
      frame(text) {
        outgoing.write(text)
        if (outgoing.writableLength > MOST_WAITING) outgoing.destroy()
      },
      end: () => void outgoing.end(),
    }
    const since = c.req.header('last-event-id') ?? c.req.query('since')
    const leave = hub.listen(listener, since)
    outgoing.once('close', leave)
    return RESPONSE_ALREADY_SENT
  })
}
