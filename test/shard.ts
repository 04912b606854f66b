/** A shard of an index in an archive of its own, for as long as the work takes. */
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openArchive } from '../src/archive/archive.ts'
import { openShard } from '../src/search/shard.ts'
import type { Database } from '../src/sqlite/driver.ts'

export async function withShard(work: (database: Database) => void): Promise<void> {
  const home = fs.mkdtempSync(join(tmpdir(), 'hansard-shard-'))
  const shard = await openShard(openArchive(home, { write: true }), 0)
  try {
    work(shard.database)
  } finally {
    shard.close()
    fs.rmSync(home, { recursive: true })
  }
}
