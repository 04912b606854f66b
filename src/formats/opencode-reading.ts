/**
 * A session of OpenCode's, message by message, whatever holds them: an export, a tree of files, rows. Each record is at least
 * one entry: a message's own record an event, each of its parts what it says, all with the message's id as their call.
 */
import { citation as cite, type Entry } from '../transcript/entry.ts'
import { asNumber, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { Usage } from '../transcript/usage.ts'
import type { DriftWatch } from './drift.ts'
import type { ReadItem } from './format.ts'
import { createRecentIds } from './id-set.ts'
import { isNamed, isText, leftOver, takes } from './left-over.ts'
import { childOf, durationOf, fromPart, instantOf } from './opencode-part.ts'
import { createSessionFold, type SessionKnown } from './opencode-session.ts'
import { messageUsage } from './opencode-usage.ts'
import { watchInfo, watchPart } from './opencode-vocabulary.ts'
import { asId, createPlacing, type Place, type Said } from './placing.ts'

/** A record, and where it was read. */
export type Piece<T = Json> = { readonly value: T; readonly place: Place }

export type Message = {
  /** Undefined where the message's own record is lost and its parts are not. */
  readonly info: Piece<JsonObject> | undefined
  readonly parts: readonly Piece[]
}

export type OpencodeReading = {
  /** The session as it is known now. */
  session(): Session
  message(message: Message): readonly ReadItem[]
  /** A record that is neither a message nor a part, as an event. */
  event(piece: Piece, record: string): ReadItem
}

/** The call that started each session, by the session's own id: filled as parents are read, looked up by their children. */
export type Spawned = {
  get(session: string): string | undefined
  set(session: string, citation: string): void
}

export function createOpencodeReading(
  known: SessionKnown,
  spawned: Spawned = new Map(),
  drift?: DriftWatch,
): OpencodeReading {
  const fold = createSessionFold(known)
  const placing = createPlacing(known.agent)
  const calls = createRecentIds()
  const version = asString(known.info['version'])
  const revert = createRevert(asObject(known.info['revert']))
  const { id: session } = fold.session()
  const named = new Map([['sessionID', known.sessionId]])
  drift?.record('session', known.info, version)

  let unnamed = 0
  const callId = (part: JsonObject): string => {
    const own = asId(part['callID'])
    const partId = asId(part['id'])
    unnamed += 1
    const id = [own, partId].find((one) => one !== undefined && !calls.has(one)) ?? `call-${unnamed}`
    calls.add(id)
    return id
  }
  const place = (said: Said, at: Place, isReverted: boolean): Entry =>
    placing(isReverted ? { ...said, metadata: { ...said.metadata, reverted: true } } : said, at)

  return {
    session: () => fold.session(),
    event: ({ value, place: at }, record) => ({
      type: 'entry',
      entry: placing({ kind: 'event', blocks: [{ type: 'unknown', raw: value }], metadata: { record } }, at),
    }),
    message({ info, parts }) {
      const own = info?.value ?? {}
      fold.message(own)
      if (drift !== undefined) {
        if (info !== undefined) watchInfo(drift, own, version)
        for (const { value } of parts) if (isObject(value)) watchPart(drift, value, version)
      }
      const id = asId(own['id']) ?? messageOf(parts)
      const role = own['role'] === 'user' || own['role'] === 'assistant' ? own['role'] : undefined
      const at = instantOf(own['time'], 'created')
      const usage = usageOf(own, parts, version)
      const facts = factsOf(own, id, role)
      const around = new Map([...named, ['messageID', id] as const])
      const said = parts.map(({ value, place: where }) => ({
        said: fromPart(value, { role, message: id, at, around, callId }),
        where,
        child: childOf(value),
        part: isObject(value) ? asId(value['id']) : undefined,
      }))
      // The last thing the model said carries what the whole message used.
      const last = said.findLast(({ said: [first] }) => first?.kind === 'message' && first.role !== 'user')
      const items: ReadItem[] = []
      const give = (one: Said, where: Place, part?: string): Entry => {
        const entry = place(one, where, revert(id, part))
        items.push({ type: 'entry', entry })
        return entry
      }
      if (info !== undefined)
        give(fromInfo(own, { id, named }, last === undefined ? { ...facts, ...usage } : facts), info.place)
      for (const one of said) {
        const [first, ...others] = one.said
        if (first === undefined) continue
        const isSaid = first.kind === 'message' && first.role !== 'user'
        const orphaned = info === undefined && last === undefined && one === said.at(-1)
        const entry = give(
          { ...first, ...(isSaid && facts), ...((one === last || orphaned) && { ...facts, ...usage }) },
          one.where,
          one.part,
        )
        if (one.child !== undefined) spawned.set(one.child, cite(session, entry))
        for (const other of others) give(other, one.where, one.part)
      }
      return items
    },
  }
}

type Used = { readonly usage?: Usage; readonly stopReason?: string }

function usageOf(info: JsonObject, parts: readonly Piece[], version: string | undefined): Used {
  if (info['role'] === 'user') return {}
  const steps = parts.flatMap(({ value }) => {
    const tokens = isObject(value) && value['type'] === 'step-finish' ? asObject(value['tokens']) : undefined
    return tokens === undefined ? [] : [tokens]
  })
  const createdMs = asNumber(asObject(info['time'])?.['created'])
  const usage = messageUsage(asObject(info['tokens']), steps, { version, createdMs })
  const stopReason = asString(info['finish'])
  return { ...(usage !== undefined && { usage }), ...(stopReason !== undefined && { stopReason }) }
}

function factsOf(
  info: JsonObject,
  id: string | undefined,
  role: string | undefined,
): Pick<Said, 'model' | 'call'> {
  if (role === 'user') return {}
  const model = asString(info['modelID'])
  const provider = asString(info['providerID'])
  return {
    ...(model !== undefined && { model }),
    ...(id !== undefined && { call: { ...(provider !== undefined && { provider }), messageId: id } }),
  }
}

const USER = takes({ id: isNamed, parentID: isNamed })
const ANSWER = takes({
  id: isNamed,
  parentID: isNamed,
  modelID: isText,
  providerID: isText,
  finish: isText,
})
/** Without an id there is no call to say whose it was. */
const UNNAMED = takes({ modelID: isText, finish: isText, parentID: isNamed })

type Names = { readonly id: string | undefined; readonly named: ReadonlyMap<string, string | undefined> }

function fromInfo(info: JsonObject, { id, named }: Names, facts: Partial<Said>): Said {
  const { time, parentID } = info
  const at = instantOf(time, 'created')
  const durationMs = durationOf(time, 'created', 'completed')
  const parent = asId(parentID)
  const taken = info['role'] === 'user' ? USER : id === undefined ? UNNAMED : ANSWER
  const error = asObject(info['error'])
  const code = asString(error?.['name'])
  const message = asString(asObject(error?.['data'])?.['message']) ?? asString(error?.['message']) ?? code
  return {
    ...(id !== undefined && { id }),
    ...(parent !== undefined && { parent }),
    kind: 'event',
    ...(at !== undefined && { at }),
    blocks: message === undefined ? [] : [{ type: 'error', message, ...(code !== undefined && { code }) }],
    ...(durationMs !== undefined && { durationMs }),
    ...facts,
    metadata: Object.assign(leftOver(info, taken, named) ?? {}, { record: 'message' }),
  }
}

function messageOf(parts: readonly Piece[]): string | undefined {
  for (const { value } of parts) {
    const id = isObject(value) ? asId(value['messageID']) : undefined
    if (id !== undefined) return id
  }
  return undefined
}

/** True from the message, or the part of it, on that the session was taken back to. */
function createRevert(
  revert: JsonObject | undefined,
): (message: string | undefined, part: string | undefined) => boolean {
  const toMessage = asId(revert?.['messageID'])
  const toPart = asId(revert?.['partID'])
  let isReverted = false
  return (message, part) => {
    if (toMessage !== undefined && message === toMessage)
      isReverted ||= toPart === undefined || part === toPart
    return isReverted
  }
}
