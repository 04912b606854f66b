import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSpill } from '../spill.ts'
import { createHandOver, type HandOver } from './hand-over.ts'
import { createPacker, sizeOf, unpack, type Kind, type Parcel } from './parcel.ts'
import { toRoute, toUpstreams } from './upstreams.ts'

const route = toRoute(toUpstreams([]), '/v1/messages')
const request = Object.assign(new EventEmitter(), {
  method: 'POST',
  url: '/v1/messages',
  rawHeaders: ['Host', 'x'],
}) as unknown as IncomingMessage
const answer = { statusCode: 200, rawHeaders: [] } as unknown as IncomingMessage

type Told = { readonly kind: Kind; readonly call: number; readonly at: number; readonly text: string }

let sent: Parcel[]
let leftOut: number
beforeEach(() => {
  sent = []
  leftOut = 0
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

function create(budget?: number): HandOver {
  return createHandOver({
    send: (parcel) => void sent.push(parcel),
    leftOut: () => (leftOut += 1),
    spill: createSpill('/nowhere'),
    ...(budget !== undefined && { budget }),
  })
}

function told(): Told[] {
  const all: Told[] = []
  for (const parcel of sent)
    unpack(parcel, (kind, call, at, bytes) => all.push({ kind, call, at, text: bytes.toString() }))
  return all
}

const watch = (handOver: HandOver) => {
  if (route === undefined) throw new Error('there is no such route')
  return handOver.watch(request, route)
}

describe('a parcel', () => {
  it('holds whatever was put in it, in order', () => {
    const record = fc.record({
      kind: fc.constantFrom<Kind>('request', 'asked', 'response', 'chunk', 'ended', 'broken'),
      call: fc.nat(2 ** 32 - 1),
      at: fc.double({ noNaN: true }),
      bytes: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    })
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), (records) => {
        const size = records.reduce((sum, { bytes }) => sum + sizeOf(bytes), 0)
        const packer = createPacker(new ArrayBuffer(size))
        for (const { kind, call, at, bytes } of records) packer.put(kind, call, at, bytes)
        expect(packer.hasRoom(1)).toBe(false)
        const got: (typeof records)[number][] = []
        unpack(packer.parcel(), (kind, call, at, bytes) =>
          got.push({ kind, call, at, bytes: Buffer.from(bytes) }),
        )
        expect(got).toEqual(records)
      }),
    )
  })
})

describe('what passes', () => {
  it('is handed over whole, and soon after a call has begun or ended', () => {
    const call = watch(create())
    call.request(Buffer.from('{"a"'))
    call.request(Buffer.from(':1}'))
    call.asked()
    expect(sent).toEqual([])
    vi.advanceTimersByTime(2)
    expect(told().map(({ kind }) => kind)).toEqual(['request', 'request', 'asked'])
    call.response(answer)
    call.chunk(Buffer.from('data'))
    call.ended()
    vi.advanceTimersByTime(2)
    expect(told().map(({ kind }) => kind)).toEqual([
      'request',
      'request',
      'asked',
      'response',
      'chunk',
      'ended',
    ])
    expect(JSON.parse(told()[2]?.text ?? '')).toMatchObject({ api: 'anthropic-messages', isCut: false })
  })

  it('goes out behind the chunk that passes sixty milliseconds later, or by itself where none does', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const call = watch(create())
    const texts = (): string[] => told().map(({ text }) => text)
    call.chunk(Buffer.from('a'))
    vi.advanceTimersByTime(59)
    call.chunk(Buffer.from('b'))
    vi.advanceTimersByTime(10)
    expect(texts()).toEqual([])
    call.chunk(Buffer.from('c'))
    vi.advanceTimersByTime(2)
    expect(texts()).toEqual(['a', 'b', 'c'])
    call.chunk(Buffer.from('d'))
    vi.advanceTimersByTime(99)
    expect(texts()).toHaveLength(3)
    vi.advanceTimersByTime(1)
    expect(texts()).toEqual(['a', 'b', 'c', 'd'])
  })

  it('waits while four parcels are out, and is then in one', () => {
    const handOver = create()
    for (let n = 0; n < 50; n += 1) {
      const call = watch(handOver)
      call.asked()
      vi.advanceTimersByTime(5)
      call.ended()
      vi.advanceTimersByTime(5)
    }
    expect(sent).toHaveLength(4)
    handOver.took((sent[0] as Parcel).buffer)
    vi.advanceTimersByTime(5)
    expect(sent).toHaveLength(5)
    expect(told()).toHaveLength(100)
  })

  it('is bounded: a call goes on without its rest, says so at its end, and the next is whole again', () => {
    const handOver = create(100_000)
    const call = watch(handOver)
    call.asked()
    call.response(answer)
    for (let n = 0; n < 100; n += 1) call.chunk(Buffer.alloc(10_000))
    call.ended()
    handOver.flush()
    expect(leftOut).toBeGreaterThan(0)
    expect(told().filter(({ kind }) => kind === 'chunk').length).toBeLessThan(11)
    expect(JSON.parse(told().at(-1)?.text ?? '')).toEqual({ isCut: true })
    for (const { buffer } of sent) handOver.took(buffer)
    const next = watch(handOver)
    next.asked()
    next.chunk(Buffer.alloc(10_000))
    next.ended()
    handOver.flush()
    expect(JSON.parse(told().at(-1)?.text ?? '')).toEqual({ isCut: false })
  })

  it('holds no more of requests that never end than of anything else', () => {
    const handOver = create(100_000)
    for (let n = 0; n < 100; n += 1) {
      watch(handOver).request(Buffer.alloc(10_000))
      handOver.flush()
      // They have been read, but the other side holds them.
      for (const { buffer } of sent.splice(0)) handOver.took(buffer)
    }
    expect(leftOut).toBeGreaterThan(80)
  })

  it('may be longer than any block', () => {
    const call = watch(create())
    call.asked()
    call.chunk(Buffer.alloc(300_000, 'x'))
    call.ended()
    vi.advanceTimersByTime(20)
    expect(told().map(({ text }) => text.length)[1]).toBe(300_000)
  })

  it('costs nothing any more when nobody takes it', () => {
    const handOver = create()
    const call = watch(handOver)
    handOver.stop()
    call.asked()
    call.chunk(Buffer.alloc(10))
    handOver.flush()
    expect([sent, leftOut]).toEqual([[], 0])
  })
})
