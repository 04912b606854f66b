/** Which unit a file belongs to: by the layout of the agent that wrote it, or of the one that its content tells. */
import type { Format } from '../formats/format.ts'
import type { SourceFile } from '../transcript/source.ts'
import { LOADABLE, loadFormat } from './load-format.ts'

/** What the file is read together with. Where nothing is known about a place, its content says whose it is; or the user, by `named`. */
export async function unitOf(agent: string, file: SourceFile, named?: string): Promise<string> {
  const known = named ?? agent
  const format = LOADABLE.includes(known) ? await loadFormat(known) : await detectAlone(file)
  return (await format?.unit?.(file)) ?? file.path
}

/** Opened when its content is asked for: most units are told by paths alone. */
export function openedLate(
  { path, size }: { readonly path: string; readonly size: number },
  open: () => Promise<SourceFile>,
): SourceFile {
  return {
    path,
    sizeBytes: size,
    modifiedAt: '',
    head: async (bytes) => (await open()).head(bytes),
    async *chunks() {
      yield* (await open()).chunks()
    },
    bytes: async (limit) => (await open()).bytes(limit),
  }
}

async function detectAlone(file: SourceFile): Promise<Format | undefined> {
  const alone = {
    path: file.path,
    kind: 'file' as const,
    list: async () => [file],
    find: async () => undefined,
  }
  const { tellFormat } = await import('./tell-format.ts')
  return tellFormat(alone)
}
