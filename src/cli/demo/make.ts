/**
 * The sample archive, made in a folder: logs as several agents leave them in a user's home, runs of a flow, one of them recorded here, and
 * the archive that all of it was taken into. Everything in it is made up. Logs made for the same `now` are the same.
 */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { openArchive, type Archive } from '../../archive/archive.ts'
import { sync, type SyncOptions } from '../../sources/sync.ts'
import { everydayStories, loopStory, unpricedStory } from './claude-stories.ts'
import { codexStories } from './codex-stories.ts'
import { geminiStory } from './gemini-stories.ts'
import { recordReviewRun } from './recorded-run.ts'
import { runStories } from './run-stories.ts'
import { VOUCHER, voucherStory } from './voucher-story.ts'

const HOUR = 3_600_000

export async function makeSample(folder: string, now = Date.now()): Promise<Archive> {
  for (const [path, text] of sampleFiles(now)) {
    const file = join(folder, path)
    fs.mkdirSync(dirname(file), { recursive: true })
    fs.writeFileSync(file, text)
  }
  const archive = openArchive(join(folder, 'archive'), { write: true })
  await recordReviewRun(archive.home, folder, now - 19 * HOUR)
  await sync(archive, samplePlaces(folder))
  return archive
}

/** Where to look for its logs: nothing of the user's own is looked at. */
export function samplePlaces(folder: string): Pick<SyncOptions, 'userHome' | 'env' | 'cwd'> {
  return { userHome: join(folder, 'home'), env: {}, cwd: join(folder, 'project') }
}

/** Paths below the folder, and what is in them. */
export function sampleFiles(now: number): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  const claude = (cwd: string, name: string): string =>
    `home/.claude/projects/${cwd.replaceAll('/', '-')}/${name}.jsonl`
  const logs = [loopStory(now - 8.5 * HOUR), unpricedStory(now - 30 * HOUR), ...everydayStories(now)]
  for (const { id, cwd, text } of logs) files.set(claude(cwd, id), text)
  const voucher = voucherStory(now - 2.6 * HOUR)
  files.set(claude('/home/ada/ferry-shop', VOUCHER), voucher.main)
  for (const { name, text } of voucher.agents)
    files.set(claude('/home/ada/ferry-shop', `${VOUCHER}/subagents/agent-${name}`), text)
  for (const { name, text } of codexStories(now - 5.2 * HOUR)) files.set(`home/.codex/sessions/${name}`, text)
  const gemini = geminiStory(now - 22 * HOUR)
  files.set(`home/.gemini/tmp/${gemini.path}`, gemini.text)
  for (const { path, text } of runStories(now)) files.set(`project/swarm/runs/${path}`, text)
  return files
}
