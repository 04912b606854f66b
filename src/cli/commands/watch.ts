/** `hansard sync --watch`: what agents write is taken in as they write it, until the command is ended. */
import os from 'node:os'
import type { Archive } from '../../archive/archive.ts'
import { messageOf } from '../../errors.ts'
import { parseExclude } from '../../sources/exclude.ts'
import { allFormats } from '../../sources/formats.ts'
import { followPlaces } from '../../sources/follow.ts'
import type { SyncOptions, SyncReport } from '../../sources/sync.ts'
import { createWatchedIndex } from '../catch-up.ts'
import { flush, note, outJson } from '../print.ts'
import { noteProblems } from '../problems.ts'
import { sayReport } from './sync.ts'

export async function watchAndSync(
  archive: Archive,
  how: SyncOptions,
  { json, isIndexing }: { readonly json: boolean; readonly isIndexing: boolean },
): Promise<void> {
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort())
  const exclude = parseExclude(how.exclude ?? [], { home: os.homedir() })
  const told = new Set<string>()
  const index = isIndexing ? createWatchedIndex(archive) : undefined
  index?.touch()
  note('watching; Ctrl-C ends it')
  // What was said is for now: whoever reads it from a pipe waits for it.
  await flush()
  await followPlaces(
    archive,
    { ...how, onPlan: () => {}, onProgress: () => {} },
    {
      formats: allFormats,
      exclude,
      signal: ending.signal,
      onSync(report) {
        if (report.sessions > 0) index?.touch()
        void say(report, told, json)
      },
      // Told, and gone on: the next change, or the next look, may find it well again.
      onError: (error) => note(`hansard: ${messageOf(error)}`),
    },
  )
  await index?.end()
}

/** What stays wrong is met with every look, and said once. */
async function say(all: SyncReport, told: Set<string>, json: boolean): Promise<void> {
  const { isLookDue: _, ...report } = all
  const { files } = report
  if (files.new + files.grown + files.rewritten + files.failed > 0 || report.sessions > 0) {
    if (json) {
      await outJson(report)
      await flush()
    } else sayReport(report)
  }
  const now = report.problems.filter(({ cause, example }) => !told.has(`${cause} ${example}`))
  for (const { cause, example } of now) told.add(`${cause} ${example}`)
  noteProblems(now)
}
