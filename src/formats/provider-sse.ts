/**
 * Captures of providers' streams: server-sent events as they came over the wire, or the JSON of their events, a line or an element each.
 * Each answer is one message, put together as a recorded call's is; its origin is all the bytes that it came from.
 */
import { counted } from '../transcript/counted.ts'
import { asArray, asObject, isObject, parseJson, toJson, type Json } from '../transcript/json.ts'
import { readLines, type Line } from '../transcript/lines.ts'
import type { SourceFile } from '../transcript/source.ts'
import { createSseParser, type SseEvent } from '../wire/sse.ts'
import { detectAmong } from './candidates.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { readBareList } from './list-document.ts'
import { createPlacing, type Said } from './placing.ts'
import { createStreams, eventApi, type Extent, type Streamed } from './provider-streams.ts'
import { nameSession } from './session-fold.ts'
import { layoutOf, readLineSteps, readListSteps, type FileStep } from './file-steps.ts'
import { unknownSaid } from './unknown.ts'

const ID = 'provider-sse'

export const providerSse: Format = {
  id: ID,
  title: "Captured streams of providers' APIs: server-sent events",
  detect: (source) => detectAmong(source, async (file) => detectStreams(await readHead(file))),
  async *read(source) {
    const taken = new Set<string>()
    for (const file of await source.list()) {
      const head = await readFurther(file)
      if (source.kind === 'folder' && detectStreams(head) === undefined) continue
      yield* readCapture(file, head, taken)
    }
  },
}

export function detectStreams(head: Head): Detection | undefined {
  const { text, records, document, peeked, strange } = head
  const isList = layoutOf(head) === 'list'
  const list = isList ? (asArray(document ?? peeked) ?? []) : records
  const events = list.filter((value) => isObject(value) && eventApi(value) !== undefined).length
  if (events > 1 && events * 2 > list.length + (isList ? 0 : strange)) {
    // Answers that came whole stand in a list as well: of a stream's pieces, the first is not the last.
    if (isList && isWhole(list[0])) return undefined
    return { confidence: 0.96, reason: `${counted(events, 'event')} of a provider's stream` }
  }
  const data = dataOf(text)
  const found = data.filter((value) => isObject(value) && eventApi(value) !== undefined).length
  if (found === 0 || found * 2 <= data.length) return undefined
  return { confidence: 0.95, reason: `${counted(found, 'server-sent event')} of a provider` }
}

function isWhole(value: Json | undefined): boolean {
  const [candidate] = asArray(asObject(value)?.['candidates']) ?? []
  return isObject(candidate) && 'finishReason' in candidate
}

/** Lines of data looked at. */
const LOOKED_AT = 50

/** What the first `data:` lines hold; of text that is no such capture, nothing. */
function dataOf(text: string): readonly (Json | undefined)[] {
  if (!/^(?:\uFEFF)?(?:event|data|id|retry)?:/m.test(text.slice(0, 4096))) return []
  const found: (Json | undefined)[] = []
  for (const [, data = ''] of text.matchAll(/^data: ?(.*)$/gm)) {
    if (data.trim() === '[DONE]') continue
    found.push(parseJson(data.trimEnd()))
    if (found.length === LOOKED_AT) break
  }
  // The last line may be cut.
  if (found.at(-1) === undefined) found.pop()
  return found
}

async function* readCapture(
  file: SourceFile,
  head: Head,
  taken: Set<string>,
): AsyncGenerator<readonly ReadItem[]> {
  const placing = createPlacing(ID)
  const named = nameSession({ format: ID, agent: ID, file: file.path, sessionId: undefined }, taken)
  const toItem = (said: Said, extent: Extent): ReadItem => ({
    type: 'entry',
    entry: placing(said, { file: file.path, ...extent }),
  })
  yield [{ type: 'session', session: { ...named, status: 'completed' } }]
  const steps =
    head.records.length > 0 || layoutOf(head) === 'list' ? jsonEvents(file, head) : sseEvents(file)
  for await (const some of steps) {
    yield some.map((step) =>
      'damage' in step ? { type: 'damage', damage: step.damage } : toItem(step.said, step.extent),
    )
  }
}

type Step = Streamed | Extract<FileStep, { readonly damage: unknown }>

async function* jsonEvents(file: SourceFile, head: Head): AsyncGenerator<readonly Step[]> {
  const streams = createStreams()
  const steps = layoutOf(head) === 'list' ? readListSteps(await readBareList(file)) : readLineSteps(file)
  for await (const some of steps) {
    yield some.flatMap((step): readonly Step[] => {
      if ('damage' in step) return [step]
      const { value, ...extent } = step.record
      const event = value === undefined ? undefined : toEvent(value)
      return (event && streams.take(event, extent)) ?? [{ said: unknownSaid(value), extent }]
    })
  }
  yield streams.end()
}

/** Its text is made when it is asked for, which few are: a long one would be here several times. */
function toEvent(value: Json): SseEvent {
  return {
    value,
    get data() {
      return toJson(value)
    },
    complete: true,
  }
}

async function* sseEvents(file: SourceFile): AsyncGenerator<readonly Step[]> {
  const streams = createStreams()
  const parser = createSseParser()
  /** Where the event under way began. */
  let from: Extent | undefined
  const take = (line: Line): readonly Step[] => {
    const { number, byteOffset, byteLength, text } = line
    const extent = { number, byteOffset, byteLength }
    if (text === undefined) {
      const reason = `a line of ${byteLength} bytes, over the limit`
      const damage = {
        kind: 'too-large',
        file: file.path,
        line: number,
        byteOffset,
        byteLength,
        reason,
      } as const
      return [{ damage }, { said: unknownSaid(undefined), extent }]
    }
    if (text !== '' && !/^\uFEFF?(?:event|data|id|retry)?:/.test(text))
      return [{ said: unknownSaid(text), extent }]
    from = from === undefined ? extent : { ...from, byteLength: byteOffset + byteLength - from.byteOffset }
    // Captures often lose the blank lines: data that is whole ends its event.
    const [, data] = /^data: ?(.*)$/s.exec(text) ?? []
    const isWhole = data !== undefined && (data.trim() === '[DONE]' || parseJson(data) !== undefined)
    const events = parser.push(Buffer.from(isWhole ? `${text}\n\n` : `${text}\n`))
    if (events.length === 0) return []
    const at = from
    from = undefined
    return events.flatMap((event): readonly Step[] => streams.take(event, at) ?? strange(event.data, at))
  }
  for await (const lines of readLines(file.chunks())) yield lines.flatMap(take)
  const last = from
  if (last !== undefined) {
    const { number: line, ...place } = last
    const damage = {
      kind: 'torn',
      file: file.path,
      line,
      ...place,
      reason: 'the file ends inside this event',
    } as const
    yield parser
      .end()
      .flatMap((event): readonly Step[] => [
        { damage },
        ...(streams.take(event, last) ?? strange(event.data, last)),
      ])
  }
  yield streams.end()
}

/** An event of nobody's; a comment alone says nothing. */
function strange(data: string, extent: Extent): readonly Step[] {
  return data === '' ? [] : [{ said: unknownSaid(parseJson(data) ?? data), extent }]
}
