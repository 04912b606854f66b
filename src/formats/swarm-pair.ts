/**
 * Which receipt belongs to which transcript. Receipts say so themselves (`transcript_path`); where executions of a step were
 * set aside, several files share that name but for a number, and the times tell them apart.
 */
import { parseInstant } from '../transcript/instant.ts'
import { asString, type JsonObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { parseFileName } from './swarm-names.ts'
import { toEngine } from './swarm-receipt.ts'

/** `flow` names the flow's folder: only files of one flow belong together. */
export type TranscriptFile = {
  readonly file: SourceFile
  readonly flow: string
  /** The time of its first line. */
  readonly firstAt: string | undefined
}
export type ReceiptFile = {
  readonly file: SourceFile
  readonly flow: string
  readonly raw: JsonObject
  readonly bytes: number
}

type Test = (receipt: ReceiptFile, transcript: TranscriptFile) => boolean

/** Each transcript's receipt. A receipt answers for one transcript, a transcript has one receipt. */
export function pairReceipts(
  transcripts: readonly TranscriptFile[],
  receipts: readonly ReceiptFile[],
): Map<TranscriptFile, ReceiptFile> {
  const pairs = new Map<TranscriptFile, ReceiptFile>()
  const byName = new Map<string, TranscriptFile[]>()
  for (const transcript of transcripts) {
    const key = toKey(transcript.flow, parseFileName(transcript.file.path).stem)
    byName.set(key, [...(byName.get(key) ?? []), transcript])
  }
  let open = receipts
  const tests: readonly Test[] = [both(sameNumber, withinTime), withinTime, sameNumber]
  for (const test of tests) {
    open = open.filter((receipt) => {
      const candidates = byName.get(toKey(receipt.flow, toStem(receipt))) ?? []
      const found = candidates.find((candidate) => !pairs.has(candidate) && test(receipt, candidate))
      if (found !== undefined) pairs.set(found, receipt)
      return found === undefined
    })
  }
  return pairs
}

function toKey(flow: string, stem: string): string {
  return `${flow}\n${stem}`
}

function toStem({ raw }: ReceiptFile): string {
  const path = asString(raw['transcript_path'])
  if (path !== undefined) return parseFileName(path).stem
  const engine = toEngine(asString(raw['engine']) ?? '')
  return `${asString(raw['step_id']) ?? ''}-${asString(raw['agent_key']) ?? ''}-${engine}`
}

const sameNumber: Test = (receipt, transcript) =>
  parseFileName(receipt.file.path).number === parseFileName(transcript.file.path).number

const withinTime: Test = ({ raw }, { firstAt }) => {
  const from = parseInstant(raw['started_at'])
  const to = parseInstant(raw['completed_at'])
  if (from === undefined || to === undefined || firstAt === undefined) return false
  return sortable(from) <= sortable(firstAt) && sortable(firstAt) <= sortable(to)
}

const both =
  (one: Test, other: Test): Test =>
  (receipt, transcript) =>
    one(receipt, transcript) && other(receipt, transcript)

/** Instants have 3, 6 or 9 digits of fraction: made comparable as text. */
function sortable(instant: string): string {
  return instant.slice(0, -1).padEnd(29, '0')
}
