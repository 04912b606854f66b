/**
 * What was recorded of conversations before this process began: a server that is started again goes on with them, as if it had never
 * ended. Read from the journals of recordings that spans were told of, when the first of a conversation comes that nobody here knows.
 */
import type { Archive } from '../../archive/archive.ts'
import { readSession } from '../../archive/read-session.ts'
import { asObject, asString, parseJson } from '../../transcript/json.ts'
import { nextTurn } from '../../transcript/next-turn.ts'
import type { Session } from '../../transcript/session.ts'
import { createVoices, type Voices } from './voices.ts'

type Native = NonNullable<Session['native']>

/** A conversation as its recordings have it. */
export type Earlier = {
  readonly native: Native
  readonly version?: string
  readonly voices: Voices
  /** Spans that were told, by their id. */
  readonly spans: ReadonlySet<string>
  readonly calls: readonly EarlierCall[]
}

/** `parent`: the span directly above it. */
export type EarlierCall = { readonly trace: string; readonly at: string; readonly parent?: string }

export type HeardBefore = {
  /** By its name. Each is given once. */
  named(agent: string, sessionId: string): Promise<Earlier | undefined>
  /** The newest that have no name but that of their first trace: who goes on with them is told by their history. */
  nameless(): Promise<readonly Earlier[]>
}

/** Recordings that are looked at, and of those without a name, how many are gone on with. */
const MOST_LOOKED_AT = 5000
const MOST_NAMELESS = 50
/** Bytes of journals that are read of one conversation. */
const MOST_BYTES = 128 * 1024 * 1024
/** A first line is far shorter, and what follows says whose it is. */
const HEAD_BYTES = 64 * 1024
const AT_A_TIME = 64

export function createHeardBefore(open: () => Archive): HeardBefore {
  let found: Promise<Recorded> | undefined
  let isNamelessGiven = false
  const all = (): Promise<Recorded> =>
    (found ??= look(open()).catch(() => {
      // What cannot be read now may be read later.
      found = undefined
      return new Map()
    }))
  const take = async (name: string): Promise<Earlier | undefined> => {
    const known = await all()
    const one = known.get(name)
    known.delete(name)
    return one && recall(open(), one, one.ids.toReversed())
  }
  return {
    named: (agent, sessionId) => take(nameOf({ agent, sessionId })),
    async nameless() {
      if (isNamelessGiven) return []
      isNamelessGiven = true
      const names = [...(await all())].filter(([, { sessionId }]) => isTrace(sessionId)).map(([name]) => name)
      const earlier: Earlier[] = []
      for (const name of names.slice(0, MOST_NAMELESS)) {
        const one = await take(name)
        if (one !== undefined) earlier.push(one)
      }
      return earlier
    },
  }
}

/** A session without a conversation's name has that of its first trace. */
export function isTrace(sessionId: string): boolean {
  return /^[0-9a-f]{32}$/.test(sessionId)
}

function nameOf({ agent, sessionId }: Native): string {
  return `${agent} ${sessionId}`
}

/** Ids of recordings, the newest first. */
type Recorded = Map<string, Native & { readonly ids: string[] }>

/** Recordings of spans by the name of what they tell of, the newest first. */
async function look(archive: Archive): Promise<Recorded> {
  const found: Recorded = new Map()
  for (const [count, id] of archive.ids().slice(0, MOST_LOOKED_AT).entries()) {
    if (count % AT_A_TIME === 0) await nextTurn()
    const native = nativeOf(archive, id)
    if (native === undefined) continue
    const name = nameOf(native)
    const known = found.get(name)
    if (known === undefined) found.set(name, { ...native, ids: [id] })
    else known.ids.push(id)
  }
  return found
}

function nativeOf(archive: Archive, id: string): Native | undefined {
  try {
    const [path] = archive.segments(id)
    if (path === undefined || archive.files.kind(path) !== 'file') return undefined
    const fd = archive.files.openRead(path)
    try {
      const bytes = Buffer.alloc(HEAD_BYTES)
      const head = bytes.toString('utf8', 0, archive.files.read(fd, bytes, 0))
      // What a span has told says which.
      if (!head.includes('"span":"')) return undefined
      const native = asObject(
        asObject(asObject(parseJson(head.split('\n', 1)[0] ?? ''))?.['session'])?.['native'],
      )
      const agent = asString(native?.['agent'])
      const sessionId = asString(native?.['sessionId'])
      return agent === undefined || sessionId === undefined ? undefined : { agent, sessionId }
    } finally {
      archive.files.close(fd)
    }
  } catch {
    // What cannot be read is not gone on with.
    return undefined
  }
}

async function recall(
  archive: Archive,
  { agent, sessionId }: Native,
  ids: readonly string[],
): Promise<Earlier> {
  const voices = createVoices()
  const spans = new Set<string>()
  const calls: EarlierCall[] = []
  let version: string | undefined
  let bytes = 0
  for (const id of ids) {
    try {
      for await (const items of readSession(archive, id)) {
        for (const item of items) {
          if (item.type === 'session') version = item.session.version ?? version
          if (item.type !== 'entry') continue
          const { entry } = item
          bytes += entry.origin?.byteLength ?? 0
          voices.recall(entry)
          const span = asString(entry.metadata?.['span'])
          const trace = asString(entry.metadata?.['trace'])
          if (span !== undefined) spans.add(span)
          const parent = asString(entry.metadata?.['parent'])
          if (trace !== undefined && entry.at !== undefined)
            calls.push({ trace, at: entry.at, ...(parent !== undefined && { parent }) })
        }
        if (bytes > MOST_BYTES) break
      }
    } catch {
      // The others are there still.
    }
  }
  return { native: { agent, sessionId }, ...(version !== undefined && { version }), voices, spans, calls }
}
