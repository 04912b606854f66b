/** Which unit a file belongs to: by the layout of the agent that wrote it, or of the one that its content tells. */
import type { Format } from '../formats/format.ts'
import type { SourceFile } from '../transcript/source.ts'
import { LOADABLE, loadFormat } from './load-format.ts'

/** What the file is read together with. Where nothing is known about a place, its content says whose it is. */
export async function unitOf(agent: string, file: SourceFile): Promise<string> {
  const format = LOADABLE.includes(agent) ? await loadFormat(agent) : await detectAlone(file)
  return (await format?.unit?.(file)) ?? file.path
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
