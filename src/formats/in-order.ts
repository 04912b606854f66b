/** The records of a JSON Lines file and the damage between them, in the order of the file: what a reader goes through once. */
import type { Damage } from '../transcript/damage.ts'
import type { Origin } from '../transcript/entry.ts'
import { isLongRecord } from '../transcript/long-records.ts'
import { readRecords, type JsonRecord, type RecordBatch } from '../transcript/records.ts'
import type { SourceFile } from '../transcript/source.ts'

/** A line over the limit is damage without a record; its reader gives it an entry too. */
export type Step = { readonly record: JsonRecord } | { readonly damage: Damage }

/** A batch for each chunk of the file. */
export async function* readInOrder(file: SourceFile): AsyncGenerator<readonly Step[]> {
  for await (const batch of readRecords(file)) {
    const isLong = batch.records.some(isLongRecord)
    const steps = toSteps(batch)
    yield steps
    // Whoever asks for more is done with these: a frame that waits would hold on to them while the next are read.
    if (isLong) steps.length = 0
  }
}

export function originOf(format: string, file: string, record: JsonRecord): Origin {
  const { number, byteOffset, byteLength } = record
  return { format, file, record: number, byteOffset, byteLength }
}

function toSteps({ records, damage }: RecordBatch): Step[] {
  if (damage.length === 0) return records.map((record) => ({ record }))
  const steps: Step[] = []
  let at = 0
  const giveDamage = (before: number): void => {
    for (let next = damage[at]; next !== undefined && (next.line ?? 0) <= before; next = damage[at]) {
      steps.push({ damage: next })
      at += 1
    }
  }
  for (const record of records) {
    giveDamage(record.number)
    steps.push({ record })
  }
  giveDamage(Number.POSITIVE_INFINITY)
  return steps
}
