/**
 * What was put into agents' settings, noted in the archive, so that taking it out gives back the bytes that were there. Without the
 * note, what calls us is found by what it says; then only a space more or less may tell that we were there.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { asArray, asCount, asObject, asString, parseJson, type Json } from '../../transcript/json.ts'
import { cutFrom, type Insertion } from './json-edit.ts'
import { hooksFolder } from './queue.ts'
import { makeFolder } from './make-folder.ts'

export type Installed = {
  readonly agent: string
  /** Of the file as it was left. */
  readonly hash: string
  readonly isCreated: boolean
  /** Folders made for it, the innermost first. */
  readonly folders: readonly string[]
  readonly insertions: readonly Insertion[]
}

const NAME = 'installed.json'

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export function readInstalled(archive: string): ReadonlyMap<string, Installed> {
  const notes = new Map<string, Installed>()
  for (const [file, value] of Object.entries(asObject(parseJson(readText(archive))) ?? {})) {
    const note = toInstalled(value)
    if (note !== undefined) notes.set(file, note)
  }
  return notes
}

/** Undefined forgets. */
export function noteInstalled(archive: string, file: string, note: Installed | undefined): void {
  const notes = new Map(readInstalled(archive))
  if (note === undefined) notes.delete(file)
  else notes.set(file, note)
  const folder = hooksFolder(archive)
  makeFolder(folder)
  const temporary = join(folder, `${NAME}.${process.pid}`)
  fs.writeFileSync(temporary, `${JSON.stringify(Object.fromEntries(notes), null, 2)}\n`, { mode: 0o600 })
  fs.renameSync(temporary, join(folder, NAME))
}

/** The text as it was before; undefined where what was put in is not there any more as it was. */
export function withoutInstalled(text: string, { hash, insertions }: Installed): string | undefined {
  if (hashOf(text) === hash) {
    return insertions
      .toReversed()
      .reduce((now, { at, text: put }) => cutFrom(now, [{ from: at, to: at + put.length }]), text)
  }
  let now = text
  for (const { text: put } of insertions.toReversed()) {
    const at = now.indexOf(put)
    // A lone comma could be anybody's.
    if (put.trim().length < LEAST || at === -1 || now.includes(put, at + 1)) return undefined
    now = cutFrom(now, [{ from: at, to: at + put.length }])
  }
  return now
}

const LEAST = 12

function toInstalled(value: Json): Installed | undefined {
  const note = asObject(value)
  const agent = asString(note?.['agent'])
  const hash = asString(note?.['hash'])
  if (note === undefined || agent === undefined || hash === undefined) return undefined
  const insertions = (asArray(note['insertions']) ?? []).flatMap((one) => {
    const at = asCount(asObject(one)?.['at'])
    const text = asString(asObject(one)?.['text'])
    return at === undefined || text === undefined ? [] : [{ at, text }]
  })
  const folders = (asArray(note['folders']) ?? []).filter((folder) => typeof folder === 'string')
  return { agent, hash, isCreated: note['isCreated'] === true, folders, insertions }
}

function readText(archive: string): string {
  try {
    return fs.readFileSync(join(hooksFolder(archive), NAME), 'utf8')
  } catch {
    return ''
  }
}
