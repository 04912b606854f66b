/** Many who listen to one server's events, and how long an update takes to all of them. */
import http, { type IncomingMessage } from 'node:http'
import { rssOf, type BuiltServer } from './built-server.ts'

export type Told = { readonly slowest: number; readonly updates: number; readonly memory: number }

const UPDATES = 5
const PATIENCE_MS = 20_000

/** `change` makes one event of a session that grew. */
export async function tellThousand(
  server: BuiltServer,
  listeners: number,
  change: () => void,
): Promise<Told> {
  const before = rssOf(server.child)
  const heard = new Set<IncomingMessage>()
  let onAll: () => void = () => {}
  const streams = await Promise.all(
    Array.from({ length: listeners }, () =>
      listen(server, (stream) => {
        heard.add(stream)
        if (heard.size === listeners) onAll()
      }),
    ),
  )
  const times: number[] = []
  for (let turn = 0; turn < UPDATES; turn += 1) {
    heard.clear()
    const all = new Promise<void>((resolve, reject) => {
      onAll = resolve
      setTimeout(() => reject(new Error(`${heard.size} of ${listeners} were told`)), PATIENCE_MS).unref()
    })
    const began = performance.now()
    change()
    await all
    times.push(performance.now() - began)
    // What follows of the same update is over.
    await new Promise((resolve) => setTimeout(resolve, 1500))
  }
  const memory = rssOf(server.child) - before
  for (const stream of streams) stream.destroy()
  return { slowest: Math.max(...times), updates: times.length, memory }
}

function listen(
  { port, token }: BuiltServer,
  onEntries: (stream: IncomingMessage) => void,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` }
    http
      .get({ host: '127.0.0.1', port, path: '/api/v1/live', headers, agent: false }, (response) => {
        if (response.statusCode !== 200) return reject(new Error(`listening: ${response.statusCode}`))
        response.on('data', (chunk: Buffer) => {
          if (chunk.includes('event: entries')) onEntries(response)
        })
        // The first words of the stream: from here on it is told everything.
        response.once('data', () => resolve(response))
        return undefined
      })
      .on('error', reject)
  })
}
