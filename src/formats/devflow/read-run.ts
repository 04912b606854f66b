/**
 * One run out of its files. The transcript is the record and `metadata.json` its summary: where they differ the transcript is
 * taken and the difference is damage. Of a plain and a compressed transcript the stale one never wins.
 */
import type { Damage } from '../../transcript/damage.ts'
import { uuidFrom } from '../../transcript/ids.ts'
import { asObject, asString, toJson, type JsonObject } from '../../transcript/json.ts'
import type { Session } from '../../transcript/session.ts'
import type { SourceFile } from '../../transcript/source.ts'
import { readDocument, unknownMembers, type Document } from './document.ts'
import { readFacts, toSession, type Facts } from './facts.ts'
import type { RunFiles } from './runs.ts'

export type Run = {
  /** Undefined when nothing in the files says that they are a run. */
  readonly session: Session | undefined
  readonly transcript: Document | undefined
  readonly damage: readonly Damage[]
}

/** `seen` holds the run ids met so far: a second run of the same id gets a session of its own. */
export async function readRun(files: RunFiles, seen: Set<string>): Promise<Run> {
  const summary = files.metadata && (await readDocument(files.metadata))
  const stated = summary && Object.keys(summary.members).length > 0 ? readFacts(summary.members) : undefined
  const { transcript, damage } = await readTranscript(files, stated)
  const found = [...(summary?.damage ?? []), ...damage]
  const inner = transcript && asObject(transcript.members['metadata'])
  const facts = inner ? readFacts(inner) : undefined
  const runId =
    asString(transcript?.members['runId']) || facts?.runId || stated?.runId || nameOf(files.folder)
  if (stated === undefined && transcript === undefined && files.folder === '')
    return { session: undefined, transcript: undefined, damage: found }

  const report = (kind: Damage['kind'], reason: string): void => {
    const file =
      (kind === 'mismatch' && files.metadata ? files.metadata : anyFile(files))?.path ?? files.folder
    found.push({ kind, file, byteOffset: 0, byteLength: 0, reason })
  }
  const isSecond = runId === undefined || seen.has(runId)
  const id = isSecond ? uuidFrom('devflow', runId ?? '', files.folder) : uuidFrom('devflow', runId)
  if (isSecond) report('mismatch', runId === undefined ? 'no run id' : 'another run has the same run id')
  else seen.add(runId)
  const turns = transcript?.turnCount
  for (const reason of disagreements(facts, stated, turns, transcript)) report('mismatch', reason)
  if (transcript === undefined && stated?.status !== undefined && stated.status !== 'running')
    report('missing', 'a run that has ended, without its transcript')

  const session = toSession({
    id,
    runId,
    facts: { ...stated, ...facts },
    otherwise: facts?.endedAt === undefined ? 'interrupted' : 'completed',
    kept: {
      ...keptAs('document', transcript && unknownMembers(transcript)),
      ...keptAs('metadata', facts?.kept),
      ...keptAs('summary', stated?.kept),
      // The seed's own document has neither field in its metadata; it is written back as it was.
      ...(inner && !('runId' in inner) && !('turnCount' in inner) && { bare: true }),
    },
  })
  return { session, transcript, damage: found }
}

function keptAs(key: string, value: JsonObject | undefined): JsonObject {
  return value === undefined ? {} : { [key]: value }
}

type Chosen = { readonly transcript: Document | undefined; readonly damage: readonly Damage[] }

async function readTranscript({ plain, gzip }: RunFiles, stated: Facts | undefined): Promise<Chosen> {
  const only = plain ?? gzip
  if (only === undefined) return { transcript: undefined, damage: [] }
  if (plain === undefined || gzip === undefined) {
    const transcript = await readDocument(only)
    return { transcript: isTranscript(transcript) ? transcript : undefined, damage: transcript.damage }
  }
  const both = [
    { file: gzip, document: await readDocument(gzip) },
    { file: plain, document: await readDocument(plain) },
  ] as const
  const [winner, stale] = preferred(both[0], both[1], stated) ? both : ([both[1], both[0]] as const)
  const damage = [...winner.document.damage]
  if (!(await sameDocument(winner.document, stale.document))) {
    const reason = `a transcript that differs from ${baseName(winner.file.path)} beside it, which is newer`
    const byteLength = stale.file.sizeBytes
    damage.push({ kind: 'mismatch', file: stale.file.path, byteOffset: 0, byteLength, reason })
  }
  const { document } = winner
  return { transcript: isTranscript(document) ? document : undefined, damage }
}

type Twin = { readonly file: SourceFile; readonly document: Document }

/** Whole before damaged, then the one `metadata.json` agrees with, then the later written, then the later ended. */
function preferred(a: Twin, b: Twin, stated: Facts | undefined): boolean {
  const [left, right] = [rank(a, stated), rank(b, stated)]
  const at = left.findIndex((value, index) => value !== right[index])
  return at === -1 || (left[at] as string) > (right[at] as string)
}

function rank({ file, document }: Twin, stated: Facts | undefined): readonly string[] {
  const inner = asObject(document.members['metadata'])
  const facts = inner && readFacts(inner)
  const agrees = stated !== undefined && facts?.status === stated.status && facts?.endedAt === stated.endedAt
  return [
    document.damage.length === 0 ? 'whole' : 'damaged',
    agrees ? 'agrees' : '',
    file.modifiedAt,
    facts?.endedAt ?? '',
    String(document.turnCount ?? 0).padStart(12, '0'),
  ]
}

async function sameDocument(a: Document, b: Document): Promise<boolean> {
  if (a.turnCount !== b.turnCount || toJson(a.members) !== toJson(b.members)) return false
  const others = turnsOf(b)
  try {
    for await (const turn of turnsOf(a)) {
      const { value, done } = await others.next()
      if (done === true || toJson(turn) !== toJson(value)) return false
    }
    return true
  } finally {
    // Nobody asks it for its end: its file would stay open.
    await others.return(undefined)
  }
}

async function* turnsOf(document: Document): AsyncGenerator<JsonObject | undefined, undefined> {
  for await (const { turns } of document.turns()) for (const { value } of turns) yield value
  return undefined
}

function isTranscript({ members, turnCount }: Document): boolean {
  return turnCount !== undefined || 'metadata' in members || 'runId' in members
}

const COMPARED = [
  'flowId',
  'nodeId',
  'startedAt',
  'endedAt',
  'status',
  'tokensIn',
  'tokensOut',
  'cost',
  'error',
] as const

function disagreements(
  facts: Facts | undefined,
  stated: Facts | undefined,
  turns: number | undefined,
  transcript: Document | undefined,
): readonly string[] {
  const said: string[] = []
  const differing = facts && stated ? COMPARED.filter((key) => facts[key] !== stated[key]) : []
  if (differing.length > 0) said.push(`metadata.json and the transcript differ in ${differing.join(', ')}`)
  const runId = asString(transcript?.members['runId'])
  for (const other of [facts?.runId, stated?.runId]) {
    if (runId !== undefined && other !== undefined && other !== runId) said.push('two run ids for one run')
  }
  const count = facts?.turnCount ?? stated?.turnCount
  const isRunning = (facts?.status ?? stated?.status) === 'running'
  if (turns !== undefined && count !== undefined && count !== turns && !isRunning)
    said.push(`${count} turns stated, ${turns} read`)
  return said
}

function anyFile({ plain, gzip, metadata }: RunFiles): SourceFile | undefined {
  return plain ?? gzip ?? metadata
}

function nameOf(folder: string): string | undefined {
  return folder === '' ? undefined : baseName(folder)
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
