/**
 * Traces of agents, read: spans of OpenTelemetry's GenAI conventions, of OpenInference, Traceloop and the AI SDK, as OTLP's JSON, from
 * Jaeger or from Phoenix; and written, as OTLP's JSON. Every call repeats the conversation, and agents sum up their calls: each message is
 * told once, each call billed once.
 */
import { PRIMARY } from '../transcript/entry.ts'
import { asString } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { OtlpSpan } from '../wire/otlp.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { createIdSet } from './id-set.ts'
import { keepLast } from './keep-last.ts'
import { AGENT, isOwn } from './otel-own.ts'
import { createOtelTree, toTreeSpan, type OtelTree, type TreeSpan } from './otel-tree.ts'
import { exporterOf, readSpanFile, type SpanPiece } from './otel-spans.ts'
import { tellSpan, type Held, type Talk } from './otel-tell.ts'
import { otelWriter } from './otel-write.ts'
import type { Facts } from './telling.ts'
import { unknownSaid } from './unknown.ts'

export const otel = fileFormat({
  id: 'otel',
  title: 'OpenTelemetry GenAI and OpenInference: OTLP JSON, Jaeger, Phoenix',
  look: lookAtSpans,
  read: readTraces,
  write: otelWriter,
})

const NAMES =
  /"(?:gen_ai\.[a-z_.]+|openinference\.span\.kind|llm\.(?:model_name|input_messages|token_count)|traceloop\.[a-z.]+|ai\.operationId)/

function lookAtSpans(head: Head): Detection | undefined {
  const found = exporterOf(head)
  if (found === undefined) return undefined
  const isModels = NAMES.test(head.text)
  if (found.exporter === 'phoenix') return { confidence: 0.95, reason: 'spans as Phoenix exports them' }
  return {
    confidence: isModels ? 0.95 : 0.6,
    reason: `spans from ${found.exporter}${isModels ? ', of models' : ''}`,
  }
}

/** Up to here spans are put into the order they began in; a larger file is read as it comes. */
const HELD_BYTES = 24 * 1024 * 1024
/** The same for a file of tiny ones: each is kilobytes here. */
const HELD_SPANS = 20_000

async function* readTraces(
  file: SourceFile,
  { open, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  let isHeld = file.sizeBytes <= HELD_BYTES
  const held: Held[] = []
  /** Of the records that they are in: what is compressed may be any number of times its size. */
  let heldBytes = 0
  const loose = open()
  let isLooseOpen = false
  const sessions = createSessions(open)
  // Not in the frame that waits for the next: it would hold on to the last piece meanwhile.
  const take = (piece: SpanPiece): void => {
    if ('damage' in piece) loose.damage(piece.damage)
    else if ('value' in piece) loose.say(unknownSaid(piece.value), piece.place)
    else {
      if (held.at(-1)?.place !== piece.place) heldBytes += piece.place.byteLength
      held.push({ ...toTreeSpan(piece.span), place: piece.place })
    }
  }
  for await (const pieces of readSpanFile(file, head)) {
    // What is no span belongs to no trace: a session of its own, whose turn it is again.
    if (pieces.some((piece) => !('span' in piece))) {
      yield sessions.leave()
      if (isLooseOpen) yield loose.end()
    }
    pieces.forEach(take)
    const others = loose.take()
    if (others.length > 0) {
      isLooseOpen = true
      yield others
    }
    if (isHeld && held.length <= HELD_SPANS && heldBytes <= HELD_BYTES) continue
    // A batch at a time: what hangs together was mostly exported together.
    yield* inBatches(sessions.tell(isHeld ? asBegun(held) : held))
    isHeld = false
    held.length = 0
  }
  if (isLooseOpen) {
    yield sessions.leave()
    yield loose.end()
  }
  yield* inBatches(sessions.tell(asBegun(held)))
  yield sessions.end()
}

/** What we wrote stands in its order. */
function asBegun(held: Held[]): readonly Held[] {
  if (held.some(({ span }) => isOwn(span))) return held
  return held.sort((a, b) => compare(a.span.startedAt ?? '', b.span.startedAt ?? ''))
}

function* inBatches(items: readonly ReadItem[]): Generator<readonly ReadItem[]> {
  for (let from = 0; from < items.length; from += AT_A_TIME) yield items.slice(from, from + AT_A_TIME)
}

const AT_A_TIME = 512

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

type Sessions = {
  tell(spans: readonly Held[]): readonly ReadItem[]
  /** Another session was told of in between: whichever comes next is named again. */
  leave(): readonly ReadItem[]
  end(): readonly ReadItem[]
}

function createSessions(open: FileReading['open']): Sessions {
  const talks = new Map<string, Talk>()
  let current: Talk | undefined
  return {
    tell(spans) {
      const tree = createOtelTree(spans)
      const items: ReadItem[] = []
      for (const one of spans) {
        const { name, isTold } = tree.sessionOf(one.span)
        const known = talks.get(name)
        const talk = known ?? {
          telling: open(name),
          lanes: new Map(),
          calls: createIdSet(),
          resources: createIdSet(),
        }
        if (current !== talk) {
          items.push(...(current?.telling.end() ?? []), ...(known?.telling.end() ?? []))
          current = talk
          keepLast(talks, name, talk)
        }
        talk.telling.know({
          sessionId: name,
          ...(isOwn(one.span) ? nativeOf(one.span, name) : factsOf(one, tree, isTold)),
        })
        tellSpan(one, tree, talk)
      }
      return [...items, ...(current?.telling.take() ?? [])]
    },
    leave() {
      const items = current?.telling.end() ?? []
      current = undefined
      return items
    },
    end: () => current?.telling.end() ?? [],
  }
}

function nativeOf({ attributes }: OtlpSpan, sessionId: string): Facts {
  const agent = asString(attributes.get(AGENT))
  return agent === undefined ? {} : { native: { agent, sessionId } }
}

function factsOf({ span, told }: TreeSpan, tree: OtelTree, isTold: boolean): Facts {
  const isMain = told?.kind === 'agent' && tree.sourceOf(span) === PRIMARY
  const agent = isMain ? told.agentName : undefined
  return { ...(isTold ? {} : { title: span.name }), ...(agent !== undefined && { agent }) }
}
