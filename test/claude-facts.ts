/** Logs of Claude Code written to a folder, and what a pass tells of them: from all they say, or from no more than facts hang on. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { claudeCode } from '../src/formats/claude-code.ts'
import { openSource } from '../src/sources/open.ts'
import type { Call, UnitFacts } from '../src/sources/session-facts.ts'
import { createUnitReading } from '../src/sources/unit-facts.ts'

type Files = Readonly<Record<string, string | Buffer>>

/** Each time to another folder below this one, which it gives. */
export function createWriter(base: string): (files: Files) => string {
  let folders = 0
  return (files) => {
    folders += 1
    const root = join(base, String(folders))
    for (const [path, text] of Object.entries(files)) {
      fs.mkdirSync(dirname(join(root, path)), { recursive: true })
      fs.writeFileSync(join(root, path), text)
    }
    return root
  }
}

export type Told = { readonly facts: UnitFacts; readonly calls: readonly Call[] }

export async function readFacts(path: string, isForFacts: boolean): Promise<Told> {
  const calls: Call[] = []
  const reading = createUnitReading((some) => void calls.push(...some), 'unit')
  const source = await openSource(path)
  for await (const items of claudeCode.read(source, { isForFacts, drift: reading.drift })) reading.add(items)
  return { facts: reading.end(), calls }
}
