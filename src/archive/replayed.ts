/**
 * Answers that a replay gave: `replayed.jsonl`, one line each. Agents log them as calls, with names and times of their own, and no provider
 * was asked.
 */
import { join } from 'node:path'
import { writeAll, type Files } from '../journal/files.ts'
import { asObject, asString, parseJson } from '../transcript/json.ts'
import { readWholeFile } from './bytes.ts'

/** `session`: the recording's id. `call`: see `callKey`. `at`: milliseconds since 1970. */
export type Replayed = { readonly session: string; readonly call: string; readonly at: number }

const NAME = 'replayed.jsonl'

export function addReplayed(files: Files, home: string, { at, ...replayed }: Replayed): void {
  const fd = files.openAppend(join(home, NAME), 'any')
  try {
    writeAll(files, fd, Buffer.from(`${JSON.stringify({ at: new Date(at).toISOString(), ...replayed })}\n`))
  } finally {
    files.close(fd)
  }
}

/** A torn line costs the answer it was to be. */
export function readReplayed(files: Files, home: string): readonly Replayed[] {
  const text = readWholeFile(files, join(home, NAME))?.toString('utf8') ?? ''
  return text.split('\n').flatMap((line) => {
    const value = asObject(parseJson(line))
    const [session, call] = [asString(value?.['session']), asString(value?.['call'])]
    const at = Date.parse(asString(value?.['at']) ?? '')
    return session === undefined || call === undefined || Number.isNaN(at) ? [] : [{ session, call, at }]
  })
}
