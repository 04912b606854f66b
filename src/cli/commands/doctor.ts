/** `hansard doctor`: what is kept, what could not be read, what agents write that is new here, and what they are about to delete. */
import fs from 'node:fs'
import os from 'node:os'
import { openArchive } from '../../archive/archive.ts'
import { counted, toBytes, toCount } from '../../replay/amounts.ts'
import { visibleLine } from '../../replay/escape.ts'
import { readHealth, type Health } from '../../sources/health.ts'
import { purgeWarnings, type PurgeWarning } from '../../sources/purge.ts'
import { peekState } from '../../sources/state.ts'
import { loadConfig } from '../config.ts'
import { note, out, outJson } from '../print.ts'
import { toTable } from '../table.ts'

export type DoctorOptions = { readonly home?: string; readonly json?: boolean }

export async function doctor(options: DoctorOptions): Promise<void> {
  const config = await loadConfig(options)
  const archive = openArchive(config.home)
  const state = await peekState(archive)
  try {
    const health = state && readHealth(state.database)
    const purges = purgeWarnings(process.env, os.homedir())
    const disk = diskOf(archive.home)
    if (options.json) {
      return await outJson({
        home: archive.home,
        layout: archive.readOnly ? 'newer' : 'current',
        disk,
        ...health,
        purges,
      })
    }
    await out(`archive ${archive.home}${archive.readOnly ? ', newer than this program: only read' : ''}\n`)
    if (disk !== undefined) await out(`disk    ${toBytes(disk.free)} of ${toBytes(disk.total)} free\n`)
    if (health === undefined) note('hansard: nothing was synced yet: hansard sync')
    else await print(health)
    await printPurges(purges)
  } finally {
    state?.close()
  }
}

type Disk = { readonly free: number; readonly total: number }

function diskOf(home: string): Disk | undefined {
  try {
    const { bsize, blocks, bavail } = fs.statfsSync(home)
    return { free: bavail * bsize, total: blocks * bsize }
  } catch {
    return undefined
  }
}

async function print({ places, unreadable, damaged, drift }: Health): Promise<void> {
  await out('\nPlaces\n')
  await out(
    toTable(
      [
        { name: 'AGENT' },
        { name: 'FILES', align: 'right' },
        { name: 'KEPT', align: 'right' },
        { name: 'PENDING', align: 'right' },
        { name: 'FAILED', align: 'right' },
        { name: 'WHERE' },
      ],
      places.map(({ agent, root, files, kept, pending, failed }) => [
        agent,
        toCount(files),
        toBytes(kept),
        toCount(pending),
        toCount(failed),
        root,
      ]),
    ),
  )
  await printList('Not read', unreadable, ({ file, problem }) => `${file}: ${problem}`)
  await printList('Damage', damaged, ({ file, damage }) => `${file}: ${counted(damage, 'damaged record')}`)
  if (drift.length === 0)
    return out('\nDrift: none; every record, key and block that agents wrote is known here\n')
  await out('\nDrift: what agents wrote that is new here; it is kept, and shown as it is\n')
  await out(
    toTable(
      [
        { name: 'FORMAT' },
        { name: 'VERSION' },
        { name: 'KIND' },
        { name: 'NAME' },
        { name: 'TIMES', align: 'right' },
        { name: 'FILES', align: 'right' },
      ],
      drift.map(({ format, version = '?', kind, name, count, units }) => [
        format,
        version,
        kind,
        name,
        toCount(count),
        toCount(units),
      ]),
    ),
  )
}

const SHOWN = 20

async function printList<T>(title: string, all: readonly T[], toText: (one: T) => string): Promise<void> {
  if (all.length === 0) return
  await out(`\n${title}\n`)
  for (const one of all.slice(0, SHOWN)) await out(`  ${visibleLine(toText(one))}\n`)
  if (all.length > SHOWN) await out(`  and ${toCount(all.length - SHOWN)} more; --json has them all\n`)
}

async function printPurges(purges: readonly PurgeWarning[]): Promise<void> {
  await printList('Deleted by agents themselves', purges, ({ agent, reason }) => `${agent}: ${reason}`)
}
