/**
 * A fork: recorded answers up to an entry, then live. Which calls of the recording still count, and what is sent on instead of what the
 * agent asked, where somebody wants to see what another prompt, another result or another model would have come to.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { HansardError } from '../errors.ts'
import { citation, parseCitation, type Citation, type Entry } from '../transcript/entry.ts'
import { editRequest, type Edits } from './fork-edits.ts'
import type { LiveRequest } from './live-request.ts'
import { timeOf } from './recorded-sessions.ts'
import type { Recording } from './recording.ts'
import type { Forward } from './server.ts'

export type ForkPoint = {
  /** As the session that it leads to names it. */
  readonly citation: string
  readonly session: string
  readonly keeps: (index: number) => boolean
  /** Of the entry itself, for edits. */
  readonly text?: string
  readonly callId?: string
}

/** `at`: of an entry of the recording; what was answered after it is not given. */
export async function findForkPoint(recording: Recording, at: Citation): Promise<ForkPoint> {
  const session = recording.sessions.find(({ id }) => id.startsWith(at.session))
  const entry = session && (await findEntry(recording, session.id, at))
  if (session === undefined || entry === undefined)
    throw new HansardError('not-found', `the recording has no entry ${at.session}#${at.sequence}`, {
      hint: 'hansard show ID --as json lists the entries there are',
    })
  const { calls } = await recording.calls(session.id)
  const answered = new Map(
    calls.flatMap(({ call, answered: said }) => (call === undefined ? [] : [[call, said] as const])),
  )
  /** The first call of that source whose answer comes after the entry: it and what was asked after it are live. */
  const cut = recording.exchanges.findIndex((exchange) => {
    if (exchange.session !== session.id || exchange.source !== at.source) return false
    const said = parseCitation(answered.get(exchange.call ?? '') ?? '')
    return said === undefined || said.sequence > at.sequence
  })
  const { at: when, ...said } = entry
  /** Other conversations of the run: those that had begun. */
  const isBefore = (id: string): boolean =>
    when === undefined || Number.isNaN(Date.parse(when)) || (timeOf(id) ?? 0) <= Date.parse(when)
  return {
    citation: citation(session.id, at),
    session: session.id,
    keeps(index) {
      const own = recording.exchanges[index]?.session
      return own === session.id ? cut === -1 || index < cut : own !== undefined && isBefore(own)
    },
    ...said,
  }
}

type FoundEntry = Pick<ForkPoint, 'text' | 'callId'> & Pick<Entry, 'at'>

async function findEntry({ sessions }: Recording, id: string, at: Citation): Promise<FoundEntry | undefined> {
  const session = sessions.find((one) => one.id === id)
  for await (const items of session?.read() ?? [])
    for (const item of items) {
      if (item.type !== 'entry' || item.entry.source !== at.source || item.entry.sequence !== at.sequence)
        continue
      const { blocks, at: when } = item.entry
      const text = blocks.find((block) => block.type === 'text')?.text
      const callId = blocks.find((block) => block.type === 'tool-result')?.callId
      return {
        ...(typeof text === 'string' && { text }),
        ...(callId !== undefined && { callId }),
        ...(when !== undefined && { at: when }),
      }
    }
  return undefined
}

/** Sends requests on to `target`, edited. Status, headers and every byte come back as they are. */
export function forwardTo(target: string, point: ForkPoint, edits: Edits): Forward {
  return (request: IncomingMessage, response: ServerResponse, live: LiveRequest) => {
    const edited = live.body === undefined ? undefined : editRequest(live.body, point, edits)
    const bytes = edited === undefined ? live.bytes : Buffer.from(JSON.stringify(edited))
    const { host: _, 'content-length': __, 'transfer-encoding': ___, ...rest } = request.headers
    const headers = { ...rest, ...(edited !== undefined && { 'content-encoding': undefined }) }
    const plain = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined))
    const sent = http.request(`${target}${live.url}`, {
      method: live.method,
      headers: { ...plain, ...(live.method !== 'GET' && { 'content-length': bytes.length }) },
    })
    sent.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'x-hansard-match': 'live' })
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    sent.on('error', () => response.destroy())
    response.on('close', () => sent.destroy())
    sent.end(bytes)
  }
}
