/**
 * Calls that were asked and never answered, in a session that nobody writes any more: each is said to be interrupted, with what had come
 * of its answer. Nothing of it is in the journal, whose writer died; it is made each time the session is read.
 */
import { asBlock } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { asObject, asString, parseJson, toJson, type Json } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'

/** Lies beside the journal while answers come, and is replaced as they do. A line each: `{"v":1,"call":…,"entry":…}`. */
export const UNFINISHED = 'unfinished.jsonl'

/** The event that a call begins with. */
export const CALL_STARTED = 'call-started'

export type Unanswered = {
  take(entry: Entry): void
  /** What is to be said of the calls that are still open, in the order they were asked. */
  end(unfinished: ReadonlyMap<string, Entry>): readonly Entry[]
}

export function createUnanswered(): Unanswered {
  const open = new Map<string, Entry>()
  const last = new Map<string, number>()
  return {
    take(entry) {
      last.set(entry.source, entry.sequence)
      const { metadata } = entry
      if (metadata === undefined) return
      if (metadata['record'] === CALL_STARTED) {
        const call = startedCall(entry)
        if (call !== undefined) open.set(call, entry)
      } else if (open.size > 0) {
        const said = metadata['call'] ?? metadata['span']
        if (typeof said === 'string') open.delete(said)
      }
    },
    end(unfinished) {
      const next = (source: string): number => {
        const sequence = (last.get(source) ?? -1) + 1
        last.set(source, sequence)
        return sequence
      }
      return [...open].flatMap(([call, started]) => {
        const { source, id } = started
        const come = unfinished.get(call)
        const said = come && { ...come, source, parent: id, sequence: next(source) }
        return [...(said ? [said] : []), interrupted(call, started, said, next(source))]
      })
    },
  }
}

/** The id that a call is known by, of the event that it begins with. */
export function startedCall({ metadata, blocks: [block] }: Entry): string | undefined {
  if (metadata?.['record'] !== CALL_STARTED || block?.type !== 'unknown') return undefined
  return asString(asObject(block.raw)?.['call'])
}

function interrupted(call: string, started: Entry, said: Entry | undefined, sequence: number): Entry {
  const at = said?.at ?? started.at
  return {
    id: `${call}-interrupted`,
    parent: said?.id ?? started.id,
    source: started.source,
    sequence,
    kind: 'message',
    ...(at !== undefined && { at }),
    blocks: [
      {
        type: 'error',
        message: 'interrupted: the recorder ended before the answer did',
        code: 'interrupted',
      },
    ],
    metadata: { call, brokenBy: 'recorder' },
  }
}

export function unfinishedLine(call: string, entry: Entry): string {
  return `${toJson({ v: 1, call, entry: entry as unknown as Json })}\n`
}

/** Far above what is written. */
const MOST_BYTES = 64 * 1024 * 1024

/** By call; empty where there is no such file. A line that is none is passed over. */
export async function readUnfinished(file: SourceFile | undefined): Promise<ReadonlyMap<string, Entry>> {
  const found = new Map<string, Entry>()
  // It may be gone by now, or be something else under its name.
  const bytes = await file?.bytes(MOST_BYTES).catch(() => undefined)
  for (const line of bytes?.toString().split('\n') ?? []) {
    const value = asObject(parseJson(line))
    const call = asString(value?.['call'])
    const entry = asObject(value?.['entry'])
    if (call === undefined || entry === undefined || !Array.isArray(entry['blocks'])) continue
    const { blocks, ...rest } = entry as unknown as Entry
    found.set(call, {
      ...rest,
      id: `${call}-unfinished`,
      kind: 'message',
      role: 'assistant',
      blocks: blocks.map((block) => asBlock(block)),
    })
  }
  return found
}
