/**
 * Lists of a unit's files for formats: of very many, what is known of each is on disk until the unit is read, and what reads it is made when
 * it is asked for.
 */
import type { SourceFile } from '../transcript/source.ts'
import { madeList } from '../transcript/made-list.ts'
import type { Listed } from './listed-file.ts'
import { createLongList, LONG } from './long-list.ts'

export type FileLists = {
  /** From how many files on. */
  readonly long: number
  begin<T extends Listed>(): FileListWriter<T>
  /** None of the lists is asked for anything any more. */
  close(): void
}

export type FileListWriter<T extends Listed> = {
  /** In the order of their paths. */
  add(file: T): void
  end(open: (file: T) => SourceFile): readonly SourceFile[]
}

/** Whether files are too many for a list that is held, and there is where to put them. */
export function isLong(paths: readonly string[], lists: FileLists | undefined): lists is FileLists {
  return lists !== undefined && paths.length >= lists.long
}

export function createFileLists(long: number = LONG): FileLists {
  const made: (() => void)[] = []
  return {
    long,
    begin<T extends Listed>() {
      const writer = createLongList()
      made.push(() => writer.close())
      return {
        add: (file: T) => writer.add(JSON.stringify(file)),
        end(open: (file: T) => SourceFile) {
          const list = writer.end()
          return madeList(list.length, (index) => open(JSON.parse(list.at(index)) as T))
        },
      }
    },
    close() {
      for (const close of made.splice(0)) close()
    },
  }
}
