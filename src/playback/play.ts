/**
 * Gives an answer to a client frame by frame, each a frame of its own again: at once, or when it came. Ends when the client goes away,
 * and breaks off where the recorded connection did.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { PlayedAnswer } from './answer.ts'

export type Speed = 'recorded' | 'full'

export async function play(
  response: ServerResponse,
  { status, headers, frames, isBroken }: PlayedAnswer,
  { speed, said }: { readonly speed: Speed; readonly said: readonly (readonly [string, string])[] },
): Promise<void> {
  if (status === 0) return void response.destroy()
  response.sendDate = false
  const isWhole = !isBroken && frames.length < 2 && !isStream(headers)
  const length = isWhole ? [['content-length', String(frames[0]?.[1].length ?? 0)] as const] : []
  response.writeHead(status, [...headers.filter(isHeader), ...length, ...said].flat())
  if (speed === 'recorded' && (frames[0]?.[0] ?? 0) > HEAD_WAITS_MS) response.flushHeaders()
  const began = performance.now()
  for (const [ms, bytes] of frames) {
    if (speed === 'recorded') await until(response, began + ms)
    if (response.destroyed) return
    if (!response.write(bytes) && speed === 'full')
      await Promise.race([once(response, 'drain'), closed(response)])
  }
  if (!isBroken) return void response.end()
  // What was written goes out first: it had come.
  await new Promise<void>((done) => {
    response.write('', () => done())
    response.once('close', () => done())
  })
  response.destroy()
}

/** With the first frame where that is soon, else before it: clients time the head. */
const HEAD_WAITS_MS = 20

/** A tape may have been changed: what HTTP has no way to say is left out. */
function isHeader([name, value]: readonly [string, string]): boolean {
  return /^[\w!#$%&'*+.^`|~-]{1,200}$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

function isStream(headers: PlayedAnswer['headers']): boolean {
  return headers.some(([name, value]) => name.toLowerCase() === 'content-type' && value.includes('event'))
}

async function until(response: ServerResponse, at: number): Promise<void> {
  const wait = at - performance.now()
  if (wait < 1) return
  let timer: NodeJS.Timeout | undefined
  await Promise.race([new Promise<void>((done) => (timer = setTimeout(done, wait))), closed(response)])
  clearTimeout(timer)
}

async function closed(response: ServerResponse): Promise<void> {
  if (!response.destroyed) await once(response, 'close')
}
