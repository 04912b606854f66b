/** A machine whose archive follows what is written, held against one that has kept the same and reads all of it. */
import fs from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openArchive } from '../src/archive/archive.ts'
import { prepareFollowed } from '../src/sources/prepare-followed.ts'
import { rebuild } from '../src/sources/sync.ts'
import type { Machine } from './machine.ts'
import { stateWords } from './state-words.ts'

export async function prepareAll(machine: Machine): Promise<void> {
  while (await prepareFollowed(machine.archive()));
}

export async function expectWhole(machine: Machine): Promise<void> {
  expect(await stateWords(machine.archive())).toEqual(await whole(machine))
}

/** What an archive says that has kept the same, and reads all of it for the first time. */
async function whole(machine: Machine): Promise<readonly string[]> {
  const home = fs.mkdtempSync(join(machine.base, 'whole-'))
  fs.cpSync(machine.home, home, { recursive: true })
  const archive = openArchive(home, { write: true })
  await rebuild(archive)
  try {
    return await stateWords(archive)
  } finally {
    fs.rmSync(home, { recursive: true, force: true })
  }
}
