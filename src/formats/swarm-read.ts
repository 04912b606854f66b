/**
 * Reads runs, flows, or single files of swarm: one session for each execution of a step (transcript and receipt), and one for
 * a run's events. Names come from receipts; a name that had to be guessed is marked in `session.metadata.swarm`.
 */
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { uuidFrom } from '../transcript/ids.ts'
import { asString } from '../transcript/json.ts'
import { readRecords, type JsonRecord } from '../transcript/records.ts'
import type { Run, Session } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import type { ReadItem } from './format.ts'
import { readEvents } from './swarm-events.ts'
import { fromSwarmLine, type LineEntry } from './swarm-lines.ts'
import { guessNames, parseFileName, type KnownIds } from './swarm-names.ts'
import { pairReceipts, type ReceiptFile } from './swarm-pair.ts'
import { createPlacer, type Placer } from './swarm-place.ts'
import { fromReceipt, RECEIPT } from './swarm-receipt.ts'
import { reportedBy, type Reported } from './swarm-result.ts'
import { isStub, isStubText } from './swarm-stub.ts'
import { surveySwarm, type SurveyedTranscript } from './swarm-survey.ts'

type Items = AsyncGenerator<readonly ReadItem[]>

export async function* readSwarm(source: Source): Items {
  const { transcripts, receipts, events, damage } = await surveySwarm(source)
  if (damage.length > 0) yield damage.map((damage) => ({ type: 'damage', damage }))
  const pairs = pairReceipts(transcripts, receipts)
  const known: KnownIds = {
    steps: new Set(receipts.flatMap(({ raw }) => asString(raw['step_id']) ?? [])),
    agents: new Set(receipts.flatMap(({ raw }) => asString(raw['agent_key']) ?? [])),
  }
  const nameSession = createNaming()
  for (const transcript of transcripts) {
    const receipt = pairs.get(transcript)
    const facts = receipt === undefined ? guessed(transcript, known) : stated(transcript, receipt)
    const id = nameSession(facts.run ?? {}, transcript.file, transcript.firstAt)
    yield* readStep({ id, ...facts }, transcript, receipt)
  }
  const paired = new Set(pairs.values())
  for (const receipt of receipts) {
    if (paired.has(receipt)) continue
    const facts = stated(receipt, receipt)
    const id = nameSession(facts.run ?? {}, receipt.file, facts.startedAt)
    yield [
      { type: 'session', session: { id, ...facts, ...(isStub(receipt.raw, false) && { stub: true }) } },
      { type: 'entry', entry: receiptEntry(receipt, createPlacer()) },
    ]
  }
  for (const file of events) yield* readEvents(file)
}

type Facts = Omit<Session, 'id'>

function stated({ placed }: { readonly placed: Run }, { raw }: ReceiptFile): Facts {
  const facts = fromReceipt(raw)
  const run = { ...placed, ...facts.run }
  return { ...facts, ...(Object.keys(run).length > 0 && { run }) }
}

/** Without a receipt nobody said how the step ended: its writer may have died. */
function guessed({ file, placed, firstLine }: SurveyedTranscript, known: KnownIds): Facts {
  const { stem } = parseFileName(file.path)
  const names = guessNames(stem, firstLine, placed.flow === undefined ? undefined : known)
  const isGuess = Object.keys(names).length > 0
  const run = { ...placed, ...names }
  return {
    ...(Object.keys(run).length > 0 && { run }),
    status: 'interrupted',
    ...(isGuess && { metadata: { swarm: { names: 'guessed' } } }),
  }
}

/**
 * An id that stays when a receipt arrives or a later execution takes the plain name: the first line's time tells executions
 * apart, and the path only where that does not.
 */
function createNaming(): (run: Run, file: SourceFile, firstAt: string | undefined) => string {
  const used = new Set<string>()
  return ({ id: run, flow }, { path }, firstAt) => {
    const plain = uuidFrom('swarm', run ?? '', flow ?? '', parseFileName(path).stem, firstAt ?? '')
    const id = used.has(plain) ? uuidFrom('swarm', plain, path) : plain
    used.add(id)
    return id
  }
}

async function* readStep(
  session: Session,
  { file, firstAt }: SurveyedTranscript,
  receipt?: ReceiptFile,
): Items {
  yield [{ type: 'session', session }]
  const placer = createPlacer()
  let saysStub = false
  let reported: Reported = {}
  let model: string | undefined
  let latest = firstAt
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const see = (item: ReadItem): void => {
    if (item.type !== 'entry') return
    const { entry } = item
    latest = entry.at ?? latest
    model ??= entry.model
    reported = { ...reported, ...reportedBy(entry) }
    saysStub ||= isStubEntry(entry)
  }
  for await (const items of readTranscript(file, placer)) {
    items.forEach(see)
    yield items
  }
  if (receipt !== undefined) yield [{ type: 'entry', entry: receiptEntry(receipt, placer) }]
  const { status = session.status, ...counts } = reported
  yield [
    {
      type: 'session',
      session: {
        ...(model !== undefined && { model }),
        ...(firstAt !== undefined && { startedAt: firstAt }),
        ...(latest !== undefined && { endedAt: latest }),
        ...counts,
        ...session,
        ...(receipt === undefined && { status }),
        ...(isStub(receipt?.raw, saysStub) && { stub: true }),
      },
    },
  ]
}

async function* readTranscript(file: SourceFile, { place, oversized }: Placer): Items {
  const toItems = (record: JsonRecord): readonly ReadItem[] =>
    fromSwarmLine(record.value).map((entry) => ({ type: 'entry', entry: place(entry, file.path, record) }))
  for await (const { records, damage } of readRecords(file)) {
    const items = records.flatMap(toItems)
    for (const one of damage) {
      items.push({ type: 'damage', damage: one })
      if (one.kind === 'too-large') items.push({ type: 'entry', entry: oversized(one) })
    }
    yield items
  }
}

/** The receipt is a record too: an event at the end, whole, so that a writer can put back what the seed does not know. */
function receiptEntry({ raw, file, bytes }: ReceiptFile, { place }: Placer): Entry {
  const { endedAt } = fromReceipt(raw)
  const entry: LineEntry = {
    source: PRIMARY,
    kind: 'event',
    ...(endedAt !== undefined && { at: endedAt }),
    blocks: [{ type: 'unknown', raw }],
    metadata: { record: RECEIPT, swarm: { in: 'receipts' } },
  }
  return place(entry, file.path, { number: 1, byteOffset: 0, byteLength: bytes })
}

function isStubEntry({ role, blocks }: Entry): boolean {
  return blocks.some(
    (block) => block.type === 'text' && typeof block.text === 'string' && isStubText(role, block.text),
  )
}
