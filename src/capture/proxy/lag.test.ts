import { EventEmitter } from 'node:events'
import fs from 'node:fs'
import type { IncomingMessage } from 'node:http'
import os from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCallLog } from '../calls/call-log.ts'
import { createSpill } from '../spill.ts'
import { createHandOver, type HandOver } from './hand-over.ts'
import type { Parcel } from './parcel.ts'
import { createTakeOver } from './take-over.ts'
import { toRoute, toUpstreams, type Route } from './upstreams.ts'

let home: string
let leftOut: number
beforeEach(() => {
  home = fs.mkdtempSync(join(os.tmpdir(), 'lag-'))
  leftOut = 0
})
afterEach(() => fs.rmSync(home, { recursive: true, force: true }))

/** A conversation of so many calls, each with all that was said before it, that pass while nobody records. */
function pass(handOver: HandOver, calls: number, isPacked: (n: number) => boolean): void {
  const messages: { role: string; content: string }[] = []
  for (let n = 0; n < calls; n += 1) {
    messages.push({ role: 'user', content: `question ${n} ${'x'.repeat(2000)}` })
    const body = Buffer.from(JSON.stringify({ model: 'claude-sonnet-4-5', messages }))
    const request = Object.assign(new EventEmitter(), {
      method: 'POST',
      url: '/v1/messages',
      rawHeaders: isPacked(n) ? ['Content-Encoding', 'gzip'] : [],
    }) as unknown as IncomingMessage
    const watch = handOver.watch(request, toRoute(toUpstreams([]), '/v1/messages') as Route)
    watch.request(isPacked(n) ? gzipSync(body) : body)
    watch.asked()
    watch.response({
      statusCode: 200,
      rawHeaders: ['Content-Type', 'application/json'],
    } as unknown as IncomingMessage)
    const text = `answer ${n}`
    watch.chunk(Buffer.from(JSON.stringify({ id: `msg_${n}`, content: [{ type: 'text', text }] })))
    watch.ended()
    messages.push({ role: 'assistant', content: text })
  }
}

/** What is recorded of it when somebody has time at last. */
async function record(calls: number, isPacked: (n: number) => boolean, budget?: number) {
  const parcels: Parcel[] = []
  const handOver = createHandOver({
    send: (parcel) => void parcels.push(parcel),
    leftOut: () => (leftOut += 1),
    spill: createSpill(home),
    ...(budget !== undefined && { budget }),
  })
  pass(handOver, calls, isPacked)
  const taken = createTakeOver(createCallLog({ home, cwd: home }))
  const drained = { isDone: false }
  void handOver.drained().then(() => (drained.isDone = true))
  while (!drained.isDone || parcels.length > 0) {
    for (const parcel of parcels.splice(0)) {
      taken.take(parcel)
      handOver.took(parcel.buffer)
    }
    await new Promise((done) => void setImmediate(done))
  }
  return taken.end()
}

describe('one conversation, recorded long after it passed', () => {
  it('is one session, of more than memory holds', async () => {
    const sessions = await record(100, () => false)
    expect(leftOut).toBe(0)
    expect(sessions.map(({ totals }) => totals?.entries)).toEqual([100 * 3])
  })

  it('is one session, also where some requests take longer to read than those after them', async () => {
    const sessions = await record(40, (n) => n % 3 === 0)
    expect(sessions.map(({ totals }) => totals?.entries)).toEqual([40 * 3])
  })

  it('is two sessions where there was no room for some of it: the other has what nobody could read', async () => {
    const sessions = await record(60, () => false, 1_000_000)
    expect(leftOut).toBeGreaterThan(0)
    expect(sessions).toHaveLength(2)
  })
})
