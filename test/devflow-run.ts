/** Entries for runs of devflow's, and what was written and read of one. */
import { expect } from 'vitest'
import { devflow } from '../src/formats/devflow.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { readAll, type MemoryFiles } from './memory-files.ts'

export function entry(sequence: number, facts: Pick<Entry, 'blocks'> & Partial<Entry>): Entry {
  return { id: `e${sequence}`, source: 'primary', sequence, kind: 'message', ...facts }
}

export function text(files: MemoryFiles, path: string): string {
  const bytes = files.get(path)
  if (bytes === undefined) throw new Error(`${path} was not written: ${[...files.keys()].join(', ')}`)
  return bytes.toString('utf8')
}

export function at(value: unknown, path: string): unknown {
  return path.split('.').reduce((inner, key) => (inner as Record<string, unknown>)[key], value)
}

export async function readOne(source: Parameters<typeof devflow.read>[0]): Promise<Transcript> {
  const [first, ...others] = await readAll(devflow, source)
  expect(others).toEqual([])
  return first as Transcript
}
