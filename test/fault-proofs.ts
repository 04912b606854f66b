/** Promises about a failing disk: the N-th call fails, for every N, and the power goes at every N. */
import { openJournal, type Durability } from '../src/journal/writer.ts'
import type { Files } from '../src/journal/files.ts'
import { few, type Proof } from './byte-proofs.ts'
import {
  createDisk,
  POWER_CUTS,
  seededRandom,
  withFault,
  type Fault,
  type FaultKind,
  type PowerCut,
} from './faulty-files.ts'
import { first, readFolder, sampleEntry } from './journal-samples.ts'

const DURABILITIES: readonly Durability[] = ['os', 'group', 'sync']
const FAULTS: readonly FaultKind[] = ['EIO', 'ENOSPC', 'EINTR', 'EAGAIN', 'short']
const ENTRIES = 10

type Told = {
  /** Entries that `append` said are in the file. */
  readonly appended: Set<string>
  /** Entries that were appended before a `flush` or `close` that said it is done. */
  synced: Set<string>
  reports: number
  lost: number
}

/** Fails the N-th call, N = 1, 2, 3 … until a run makes fewer calls; once, and from then on until the end. */
export async function proveFailures(entries: number = ENTRIES): Promise<Proof> {
  const broken: string[] = []
  let tried = 0
  let reports = 0
  for (const durability of DURABILITIES) {
    for (const kind of FAULTS) {
      for (const sticky of [false, true]) {
        for (let at = 1; ; at += 1) {
          const fault: Fault = { at, kind, sticky }
          const run = await failOnce(durability, fault, entries)
          if (run.calls < at) break
          tried += 1
          reports += run.told.reports
          const name = `${durability}, ${kind} at ${at}${sticky ? ' and after' : ''}`
          for (const problem of run.problems) broken.push(`${name}: ${problem}`)
        }
      }
    }
  }
  const counts = { reports, 'acknowledged and lost': broken.length }
  return { name: 'the N-th call fails', tried, counts, broken: few(broken) }
}

async function failOnce(
  durability: Durability,
  fault: Fault,
  entries: number,
): Promise<{ calls: number; told: Told; problems: string[] }> {
  const disk = createDisk()
  const faulty = withFault(disk, fault)
  const problems: string[] = []
  const during = async (told: Told): Promise<void> => {
    await expectThere(told.appended, disk.now(), 'in the file', problems)
    faulty.heal()
  }
  const told = await work(faulty.files, durability, entries, during)
  const all = new Set(Array.from({ length: entries }, (_, n) => sampleEntry(n).id))
  const damage = await expectThere(all, disk.now(), 'in the file at the end', problems)
  // Only where the file could not be cut back either may a part of a line stay behind.
  if (fault.kind !== 'EIO' && damage > 0) problems.push(`${damage} damages left behind`)
  await expectThere(told.synced, disk.afterPowerCut('synced', Math.random), 'synced', problems)
  if (told.synced.size !== entries) problems.push('the last flush did not say it is done')
  if (told.lost !== 0) problems.push(`${told.lost} counted as lost`)
  if (told.reports > 2) problems.push(`${told.reports} reports`)
  return { calls: faulty.calls(), told, problems }
}

/** The power goes at the N-th call, for every N; then what was synced is there, and the rest is as if never written. */
export async function provePowerCuts(seeds: number, entries: number = ENTRIES): Promise<Proof> {
  const broken: string[] = []
  let tried = 0
  let damage = 0
  for (const durability of DURABILITIES) {
    for (let at = 1; ; at += 1) {
      const disk = createDisk()
      const faulty = withFault(disk, { at, kind: 'crash', sticky: true })
      const told = await work(faulty.files, durability, entries)
      if (faulty.calls() < at) break
      for (const cut of POWER_CUTS) {
        for (let seed = 0; seed < (cut === 'synced' || cut === 'extended' ? 1 : seeds); seed += 1) {
          tried += 1
          const problems: string[] = []
          const left = disk.afterPowerCut(cut, seededRandom(at * 1000 + seed))
          damage += await expectThere(told.synced, left, 'synced', problems)
          for (const problem of problems) broken.push(`${durability}, ${cut} at ${at}: ${problem}`)
        }
      }
      const problems: string[] = []
      await expectThere(told.appended, disk.now(), 'in the file', problems)
      for (const problem of problems) broken.push(`${durability}, killed at ${at}: ${problem}`)
    }
  }
  const counts = { 'damage reported': damage, 'synced and lost': broken.length }
  return { name: 'the power goes at the N-th call', tried, counts, broken: few(broken) }
}

export type { PowerCut }

/** A short session with a flush now and then. `during` runs before the end, while the fault is on. */
async function work(
  files: Files,
  durability: Durability,
  entries: number,
  during?: (told: Told) => Promise<void>,
): Promise<Told> {
  let clock = 0n
  const told: Told = { appended: new Set(), synced: new Set(), reports: 0, lost: 0 }
  const journal = openJournal({
    files,
    folder: '/archive/session',
    durability,
    first,
    writer: '1-1-proof',
    boot: 'boot',
    // Half a second a look: the backoff passes, and the live file is looked at now and then.
    monotonic: () => (clock += 100_000_000n),
    pause: async () => {},
    onFailure: () => {
      told.reports += 1
    },
  })
  const all = new Set<string>()
  for (let n = 0; n < entries; n += 1) {
    const entry = sampleEntry(n, 'x'.repeat(60 * n))
    all.add(entry.id)
    if (journal.append({ t: 'entry', entry })) told.appended.add(entry.id)
    if (durability === 'sync') told.synced = new Set([...told.synced, ...only(told.appended, entry.id)])
    if (n % 4 === 2 && (await journal.flush())) told.synced = new Set(all)
    if (n % 4 === 3 && journal.flushSync()) told.synced = new Set(all)
  }
  await during?.(told)
  if (await journal.close()) told.synced = new Set(all)
  told.lost = journal.lost()
  return told
}

function only(set: ReadonlySet<string>, id: string): readonly string[] {
  return set.has(id) ? [id] : []
}

/** Each of these is there once, in order, as it was written; and nothing else is. Gives the number of damages read around. */
async function expectThere(
  ids: ReadonlySet<string>,
  files: ReadonlyMap<string, Buffer>,
  what: string,
  problems: string[],
): Promise<number> {
  const { entries, damage } = await readFolder(files)
  const seen = new Set<string>()
  let last = -1
  for (const entry of entries) {
    if (seen.has(entry.id)) problems.push(`${entry.id} twice`)
    if (entry.sequence < last) problems.push(`${entry.id} out of order`)
    const expected = sampleEntry(entry.sequence, 'x'.repeat(60 * entry.sequence))
    if (JSON.stringify(entry) !== JSON.stringify(expected))
      problems.push(`${entry.id} is not what was written`)
    seen.add(entry.id)
    last = entry.sequence
  }
  for (const id of ids) if (!seen.has(id)) problems.push(`${id} was ${what} and is not there`)
  return damage.length
}
