/** A format whose files are each read alone: told by the beginning of a file, and read wherever a folder holds one. */
import type { Json } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { createDriftWatch, type DriftWatch, type Vocabulary } from './drift.ts'
import type { Detection, Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead, type Head } from './head-records.ts'
import { createTaken, createTelling, type Telling } from './telling.ts'

export type FileReading = {
  /** Another session of the file; `of` tells those without a name apart. */
  readonly open: (of?: string | number) => Telling
  readonly watch: DriftWatch | undefined
  readonly head: Head
  /** A file that lies beside it, by its name; undefined where there is none. */
  readonly beside: (name: string) => Promise<SourceFile | undefined>
}

type FileFormat = Pick<Format, 'id' | 'title' | 'places' | 'unit' | 'write'> & {
  /** How sure the beginning of a file makes us. */
  readonly look: (head: Head, file: SourceFile) => Detection | undefined
  readonly read: (file: SourceFile, reading: FileReading) => AsyncIterable<readonly ReadItem[]>
  readonly vocabulary?: Vocabulary
}

export function fileFormat({ look, read, vocabulary, ...format }: FileFormat): Format {
  return {
    ...format,
    detect: (source) => detectAmong(source, async (file) => look(await readHead(file), file)),
    async *read(source, options) {
      const taken = createTaken()
      const watch = vocabulary && createDriftWatch(vocabulary, options)
      for (const file of await source.list()) {
        const head = await readFurther(file)
        // A folder holds other files too; one that was named is taken at somebody's word.
        if (source.kind === 'folder' && look(head, file) === undefined) continue
        const open = (of?: string | number): Telling =>
          createTelling(format.id, of === undefined ? file.path : `${file.path}#${of}`, taken)
        const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1)
        yield* read(file, { open, watch, head, beside: (name) => source.find(`${folder}${name}`) })
      }
    },
  }
}

/** The file as one JSON value, as far as the head goes; undefined for lines and for what is no JSON. */
export function documentOf({ document, peeked, records }: Head): Json | undefined {
  return document ?? peeked ?? (records.length === 1 ? records[0] : undefined)
}
