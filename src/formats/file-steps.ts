/**
 * A file step by step: its records, be they lines or the elements of one list, and the damage between them, in the order in which they lie.
 */
import type { Damage } from '../transcript/damage.ts'
import type { Json } from '../transcript/json.ts'
import { isLongRecord } from '../transcript/long-records.ts'
import type { SourceFile } from '../transcript/source.ts'
import type { Head } from './head-records.ts'
import { readInOrder, type Step } from './in-order.ts'
import type { ListDocument } from './list-document.ts'
import type { Place } from './placing.ts'

/** `value` is undefined where the record is over the limit. `number` is 0 for what stands around a document's list. */
export type FileRecord = Omit<Place, 'file'> & { readonly value: Json | undefined }
export type FileStep = { readonly record: FileRecord } | { readonly damage: Damage }

/** The lines of a file; one over the limit is damage and a record. */
export async function* readLineSteps(file: SourceFile): AsyncGenerator<readonly FileStep[]> {
  for await (const steps of readInOrder(file)) {
    const all = steps.flatMap(toSteps)
    yield all
    // As below: the steps themselves are let go of where they were made.
    if (all.some(isLong)) all.length = 0
  }
}

function toSteps(step: Step): readonly FileStep[] {
  if ('record' in step || step.damage.kind !== 'too-large') return [step]
  const { line = 1, byteOffset, byteLength } = step.damage
  return [step, { record: { number: line, byteOffset, byteLength, value: undefined } }]
}

const isLong = (step: FileStep): boolean => 'record' in step && isLongRecord(step.record)

/** The elements of a document's list, from 1, after the members around it. */
export async function* readListSteps({
  members,
  damage,
  sizeBytes,
  elements,
}: ListDocument): AsyncGenerator<readonly FileStep[]> {
  yield damage.map((one) => ({ damage: one }))
  if (Object.keys(members).length > 0)
    yield [{ record: { number: 0, byteOffset: 0, byteLength: sizeBytes, value: members } }]
  let number = 0
  for await (const some of elements()) {
    const steps = some.map((element): FileStep => {
      number += 1
      return { record: { number, ...element } }
    })
    yield steps
    // Whoever asks for more is done with these: a frame that waits would hold on to them while the next are read.
    if (steps.some(isLong)) steps.length = 0
  }
}

/** How the records lie in a file, by how it begins: a line each, the elements of one list, or a single object. */
export function layoutOf({ records, document, peeked, text }: Head): 'lines' | 'list' | 'object' {
  // One line that goes on past the head is a document until another stands behind it.
  const whole = document ?? peeked
  if (whole !== undefined) return Array.isArray(whole) ? 'list' : 'object'
  if (records.length > 0) return 'lines'
  if (/^\uFEFF?\s*\[/.test(text)) return 'list'
  return /^\uFEFF?\s*\{/.test(text) ? 'object' : 'lines'
}
