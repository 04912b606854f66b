/** `opencode export`: one document, `{ info, messages: [{ info, parts }] }`. Cut off, it gives every message that is whole. */
import { asArray, asObject, isObject } from '../transcript/json.ts'
import { isLongRecord } from '../transcript/long-records.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { DriftWatch } from './drift.ts'
import type { ReadItem } from './format.ts'
import type { IdSet } from './id-set.ts'
import { isList, isRecord, leftOver, takes } from './left-over.ts'
import { readListDocument } from './list-document.ts'
import { createOpencodeReading, type OpencodeReading, type Piece, type Spawned } from './opencode-reading.ts'
import { asId, type Place } from './placing.ts'

export type Shared = {
  /** Whose sessions they are, and the format's id. */
  readonly agent: string
  /** Session ids given out so far: another recording of the same session gets its own. */
  readonly taken: Pick<IdSet, 'has' | 'add'>
  readonly spawned: Spawned
  readonly drift: DriftWatch | undefined
}

export async function* readExport(
  file: SourceFile,
  { agent, taken, spawned, drift }: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const { members, elements, damage, sizeBytes } = await readListDocument(file, 'messages')
  drift?.record('export', members)
  const info = asObject(members['info']) ?? {}
  const sessionId = asId(info['id'])
  const citation = sessionId === undefined ? undefined : spawned.get(sessionId)
  const known = {
    agent,
    info,
    sessionId,
    path: file.path,
    taken,
    ...(citation !== undefined && { citation }),
  }
  const reading = createOpencodeReading(known, spawned, drift)
  const whole: Place = { file: file.path, number: 0, byteOffset: 0, byteLength: sizeBytes }
  yield [{ type: 'session', session: reading.session() }]
  taken.add(reading.session().id)
  yield damage.map((one): ReadItem => ({ type: 'damage', damage: one }))
  if (Object.keys(members).length > 0) yield [reading.event({ value: members, place: whole }, 'session')]
  let number = 0
  for await (const some of elements()) {
    const isLong = some.some(isLongRecord)
    const items = some.flatMap(({ value, byteOffset, byteLength }) => {
      number += 1
      const place = { file: file.path, number, byteOffset, byteLength }
      if (isObject(value)) drift?.record('export.message', value)
      return readMessage({ value: value ?? null, place }, reading)
    })
    yield items
    // Whoever asks for more is done with these: a frame that waits would hold on to them while the next are read.
    if (isLong) items.length = 0
  }
  yield [{ type: 'session', session: reading.session() }]
}

function readMessage({ value, place }: Piece, reading: OpencodeReading): readonly ReadItem[] {
  const message = asObject(value)
  const info = asObject(message?.['info'])
  const parts = asArray(message?.['parts'])
  if (!isObject(message) || (info === undefined && parts === undefined))
    return [reading.event({ value, place }, 'unknown')]
  const said = reading.message({
    info: info && { value: info, place },
    parts: (parts ?? []).map((part) => ({ value: part, place })),
  })
  const beside = leftOver(message, MESSAGE)
  return beside === undefined ? said : [...said, reading.event({ value: beside, place }, 'unknown')]
}

const MESSAGE = takes({ info: isRecord, parts: isList })
