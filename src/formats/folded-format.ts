/** A format whose files are one session each, given by how its records are told and folded: what all of them do alike stands here. */
import { counted } from '../transcript/counted.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { createDriftWatch, type DriftWatch, type Vocabulary } from './drift.ts'
import type { Detection, Format, Place } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { readBareList, readListDocument } from './list-document.ts'
import { readFold, type SessionFold } from './session-fold.ts'
import { layoutOf, readLineSteps, readListSteps, type FileStep } from './file-steps.ts'
import { createKeeping } from './unsaid.ts'

export type Folded = {
  readonly id: string
  readonly title: string
  /** Whose sessions these are, where the format is not the agent's only one. */
  readonly agent?: string
  readonly look: (head: Head) => Detection | undefined
  /** For one file; what lies beside it may be asked for. */
  readonly fold: (file: SourceFile, source: Source) => SessionFold | Promise<SessionFold>
  readonly vocabulary?: Vocabulary
  /** What the vocabulary calls a record, and what else of it is watched. */
  readonly watch?: (watch: DriftWatch, record: JsonObject) => void
  /**
   * Names of fields, and values that entries say in their own way: what else a record says is kept with its entry. Absent
   * where a reader keeps it itself.
   */
  readonly words?: string
  /** Which files of a folder are looked at; all of them when absent. */
  readonly isCandidate?: (file: SourceFile) => boolean
  readonly places?: readonly Place[]
  readonly unit?: Format['unit']
  /** For files whose lines are no objects, and read like the beginning of a list. */
  readonly isLines?: (head: Head) => boolean
}

export function foldedFormat(options: Folded): Format {
  const { id, title, look, isCandidate = () => true, places, unit } = options
  return {
    id,
    title,
    detect: (source) => detectAmong(source, async (file) => look(await readHead(file)), isCandidate),
    async *read(source, readOptions) {
      const taken = new Set<string>()
      const drift = options.vocabulary && createDriftWatch(options.vocabulary, readOptions)
      for (const file of await source.list()) {
        const head = await readFurther(file)
        if (source.kind === 'folder' && (!isCandidate(file) || look(head) === undefined)) continue
        const fold = await options.fold(file, source)
        const steps = options.isLines?.(head) === true ? readLineSteps(file) : readSteps(file, head)
        yield* readFold(file, watched(fold, drift, options.watch), {
          format: id,
          taken,
          steps,
          ...(options.words !== undefined && { keeping: createKeeping(options.words) }),
          ...(options.agent !== undefined && { agent: options.agent }),
        })
      }
    },
    ...(places !== undefined && { places }),
    ...(unit !== undefined && { unit }),
  }
}

/** A file's records, however they lie: an object over many lines is one. */
export async function* readSteps(file: SourceFile, head: Head): AsyncGenerator<readonly FileStep[]> {
  const layout = layoutOf(head)
  if (layout === 'list') return yield* readListSteps(await readBareList(file))
  if (layout === 'lines' || head.records.length === 1) return yield* readLineSteps(file)
  const document = await readListDocument(file, '', { isForLines: true })
  if (document.isLines) return yield* readLineSteps(file)
  const { members, damage, sizeBytes } = document
  yield damage.map((one) => ({ damage: one }))
  yield [{ record: { number: 1, byteOffset: 0, byteLength: sizeBytes, value: members } }]
}

function watched(
  fold: SessionFold,
  drift: DriftWatch | undefined,
  watch: ((watch: DriftWatch, record: JsonObject) => void) | undefined,
): SessionFold {
  if (drift === undefined || watch === undefined) return fold
  return {
    ...fold,
    next(value: Json, number: number) {
      if (isObject(value)) watch(drift, value)
      return fold.next(value, number)
    },
  }
}

/** How many of a head's records are a format's own, as what it says of the file. */
export function vote(
  { records, strange }: Head,
  isOwn: (record: JsonObject) => boolean,
  {
    confidence = 0.95,
    what,
    of,
  }: { readonly confidence?: number; readonly what: string; readonly of: string },
): Detection | undefined {
  const own = records.filter(isOwn).length
  if (own === 0 || own * 2 <= records.length + strange) return undefined
  return {
    confidence: own === records.length ? confidence : confidence - 0.1,
    reason: `${counted(own, what)} of ${of}`,
  }
}
