/**
 * An answer in chunks, passed on as the upstream's socket gives it, framing and all: to take each chunk apart and to put it together again
 * takes longer than to pass it on. Whole chunks are kept from the parser of Node.js, which needs to see no more than how the answer begins
 * and ends; it goes on saying when that is, and what is wrong with it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createFraming } from './chunk-framing.ts'

export type Relay = {
  /** What the upstream's socket gave. */
  pass(bytes: Buffer): void
  /** All of the answer has been passed on. */
  readonly isOver: () => boolean
}

export type RelayOptions = {
  readonly answer: IncomingMessage
  /** With its head, and nothing else. */
  readonly response: ServerResponse
  /** What the socket gave last: the answer's head ended there. */
  readonly read: Buffer
  /** Who listens to the socket: no parser. */
  readonly self: (bytes: Buffer) => void
  /** Something has been given to the client's socket. */
  readonly written: () => void
  /** What has been passed on, without its framing. */
  readonly tell: (part: Buffer) => void
}

/** Undefined for an answer that has to be taken apart: not in chunks on both sides, or with a head that did not come in one piece. */
export function createRelay({
  answer,
  response,
  read,
  self,
  written,
  tell,
}: RelayOptions): Relay | undefined {
  const { socket, headers } = answer
  const body = bodyIn(read, answer)
  if (body === undefined || !response.chunkedEncoding) return undefined
  if (headers['transfer-encoding'] !== 'chunked' || headers['content-length'] !== undefined) return undefined
  const parsers = socket.listeners('data').filter((listener) => listener !== self)
  for (const parser of parsers) socket.off('data', parser as typeof self)
  // What is written from here on is framed.
  response.chunkedEncoding = false
  // Its content comes to us first.
  answer.resume()
  const framing = createFraming()
  let isBegun = false
  let isWaiting = false

  const write = (bytes: Buffer): void => {
    if (bytes.length === 0) return
    // With the head, which may not have left; and where another answer goes first, behind it.
    const to = isBegun ? (response.socket ?? response) : response
    isBegun = true
    const isRoom = to.write(bytes)
    written()
    if (isRoom) return
    // Either starts the other: what was read of an answer before it had to wait asks the socket for more.
    answer.pause()
    socket.pause()
    if (isWaiting) return
    isWaiting = true
    to.once('drain', () => {
      isWaiting = false
      answer.resume()
      socket.resume()
    })
  }
  const passOn = (bytes: Buffer): void => {
    const parts: Buffer[] = []
    const length = framing.follow(bytes, (part) => parts.push(part))
    write(length === bytes.length ? bytes : bytes.subarray(0, length))
    for (const part of parts) tell(part)
  }
  passOn(read.subarray(body))
  return {
    pass(bytes) {
      const wasBetween = framing.isBetween()
      passOn(bytes)
      if ((wasBetween && framing.isBetween()) || answer.complete || socket.destroyed) return
      for (const parser of parsers) parser.call(socket, bytes)
      // Where the parser sees nothing wrong with it.
      if (framing.isBroken()) answer.destroy(new Error('what came is no chunk'))
    },
    isOver: framing.isOver,
  }
}

/** Where the body begins in what was read; undefined when the head of this answer did not begin there. */
function bodyIn(read: Buffer, { statusCode, httpVersion }: IncomingMessage): number | undefined {
  if (httpVersion !== '1.1' || read.toString('latin1', 0, 12) !== `HTTP/1.1 ${statusCode}`) return undefined
  const end = read.indexOf('\r\n\r\n')
  return end === -1 ? undefined : end + 4
}
