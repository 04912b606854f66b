/**
 * A folder, or what a zip file holds, whose tar and zip files are empty to whoever reads it: a format takes any file that looks like its
 * own, and the logs in a tar file would be one to it. One that was to be read is told of. Nothing more is read for that.
 */
import type { ChunkOptions, SourceFile } from '../transcript/source.ts'
import { ListedFile, withOwn, type OpenListed } from './listed-file.ts'
import type { OpenSource } from './open.ts'
import { PACKAGE_BYTES, packageKind } from './package-kind.ts'

export function withoutPackages(source: OpenSource): OpenSource {
  const met = new Map<string, string>()
  /** Its first bytes, or none. */
  const checked = (path: string, head: Buffer): Buffer => {
    const kind = packageKind(head)
    if (kind === undefined) return head
    met.set(path, `a ${kind} archive, not looked into: hansard import takes in what it holds`)
    return NOTHING
  }
  const open: OpenListed<SourceFile> = ({ path }, file) =>
    withOwn(file, {
      atOnce: undefined,
      async head(bytes) {
        return checked(path, await file.head(Math.max(bytes, PACKAGE_BYTES))).subarray(0, bytes)
      },
      async *chunks(options?: ChunkOptions) {
        let isFirst = true
        for await (const chunk of file.chunks(options)) {
          if (isFirst && checked(path, chunk) === NOTHING) return
          isFirst = false
          yield chunk
        }
      },
      bytes: async (limit) => checked(path, await file.bytes(limit)),
    })
  const wrap = (file: SourceFile): SourceFile => new ListedFile(file, file, open)
  return {
    ...source,
    list: async () => (await source.list()).map(wrap),
    find: async (wanted) => {
      const file = await source.find(wanted)
      return file && wrap(file)
    },
    damage: () => [
      ...source.damage(),
      ...Array.from(met, ([file, reason]) => ({
        kind: 'missing' as const,
        file,
        byteOffset: 0,
        byteLength: 0,
        reason,
      })),
    ],
  }
}

const NOTHING = Buffer.alloc(0)
