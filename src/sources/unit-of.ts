/** Which unit a file belongs to: by the layout of the agent that wrote it, or of the one that its content tells. */
import type { Format } from '../formats/format.ts'
import { raw } from '../formats/raw.ts'
import type { SourceFile } from '../transcript/source.ts'
import { detect } from './detect.ts'
import { allFormats } from './formats.ts'

const TOLD = allFormats.filter((format) => format !== raw)

/** What the file is read together with. Where nothing is known about a place, its content says whose it is. */
export async function unitOf(agent: string, file: SourceFile): Promise<string> {
  const format = allFormats.find(({ id }) => id === agent) ?? (await detectAlone(file))
  return (await format?.unit?.(file)) ?? file.path
}

async function detectAlone(file: SourceFile): Promise<Format | undefined> {
  const alone = {
    path: file.path,
    kind: 'file' as const,
    list: async () => [file],
    find: async () => undefined,
  }
  return (await detect(alone, { formats: TOLD }))?.format
}
