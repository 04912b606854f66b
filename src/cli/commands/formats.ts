/** `hansard formats`: what can be read and written, and where such files lie on this machine. */
import { LIVE } from '../../formats/live.ts'
import os from 'node:os'
import type { Format } from '../../formats/format.ts'
import { journal } from '../../journal/format.ts'
import { allFormats } from '../../sources/formats.ts'
import { findPlaces } from '../../sources/places.ts'
import { note, out, outJson } from '../print.ts'
import { toTable, type Column } from '../table.ts'

export async function formats({ json }: { readonly json?: boolean }): Promise<void> {
  const rows = allFormats.map(toRow)
  if (json) return outJson({ formats: rows })
  const lines = rows.map(({ id, write, live, title, found }) => {
    const can = ['read', ...(write ? ['written'] : []), ...(live ? ['live'] : [])]
    return [id, can.join(', '), found.join(', ') || '-', title]
  })
  await out(toTable(COLUMNS, lines))
}

const COLUMNS: readonly Column[] = [
  { name: 'FORMAT', cutLast: true, least: 14 },
  { name: 'CAN BE', cutLast: true },
  { name: 'FOUND HERE', rank: 1, least: 12, cut: 'start' },
  { name: 'IS', rank: 2, least: 16 },
]

function toRow(format: Format) {
  const { id, title, write, places = [] } = format
  const found = findPlaces([format], {
    env: process.env,
    home: os.homedir(),
    platform: process.platform,
    folders: [process.cwd()],
    onProblem: (path, { reason }) => note(`hansard: ${path} cannot be looked at (${reason})`),
  })
  return {
    id,
    title,
    read: true,
    write: write !== undefined,
    live: LIVE.has(id),
    places: places.flatMap(({ folders }) => folders),
    found: found.map(({ root }) => root),
    docs: id === journal.id ? 'docs/format.md' : `docs/formats/${id}.md`,
  }
}
