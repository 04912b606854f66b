/** Every record of every file is accounted for: in files of our own making, and in real ones where a folder of them stands by. */
import { appendFileSync, existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { record } from '../src/capture/record.ts'
import { playDemo } from '../src/cli/demo/recorded-story.ts'
import { coverage, filesBelow } from './coverage.ts'

const corpus = process.env['HANSARD_CORPUS'] ?? resolve(import.meta.dirname, '../../shared/corpus')
const real = ['entire', 'flow-studio', 'claude-code']
  .map((kind) => join(corpus, kind))
  .filter((path) => existsSync(path))

/** A session in all five formats, each file of lines ending in a torn one. Our own journal is apart: its bookkeeping is no entry. */
async function ownFiles(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-corpus-'))
  const formats = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm']
  const session = await record({
    home: mkdtempSync(join(tmpdir(), 'hansard-corpus-')),
    cwd: folder,
    formats,
    flow: 'fix',
    step: 'look',
  })
  playDemo(session)
  await session.end()
  for (const path of filesBelow(folder)) if (path.endsWith('.jsonl')) appendFileSync(path, '{"torn')
  return folder
}

async function uncoveredBelow(folder: string): Promise<string[]> {
  const all: string[] = []
  for (const path of filesBelow(folder)) {
    const { file, uncovered } = await coverage(path, folder)
    all.push(...uncovered.map((number) => `${file}:${number}`))
  }
  return all
}

describe('reading', () => {
  it('accounts for every record of our own files, torn lines included', async () => {
    expect(await uncoveredBelow(await ownFiles())).toEqual([])
  })

  it('accounts for every record of the real transcripts that stand by, without an exception', async () => {
    for (const folder of real) expect(await uncoveredBelow(folder)).toEqual([])
  })
})
