/** Whether bytes begin a tar or zip file, told by them alone: what such a file holds is never one log. */
import type { Source } from '../transcript/source.ts'
import { HEAD_BYTES } from '../formats/head-records.ts'
import { isZip } from './zip-directory.ts'

export type PackageKind = 'tar' | 'zip'

/** As much of a file as tells it. */
export const PACKAGE_BYTES = 512

export function packageKind(head: Buffer): PackageKind | undefined {
  if (isZip(head)) return 'zip'
  return isTar(head) ? 'tar' : undefined
}

/** Of a source that is one file. It asks for what detection looks at anyway, so that the file is read once. */
export async function packageOf(source: Source): Promise<PackageKind | undefined> {
  if (source.kind !== 'file') return undefined
  const [file] = await source.list()
  return file && packageKind(await file.head(HEAD_BYTES))
}

/** What to do about one that is not looked into. */
export function wayInto(path: string): string {
  return `hansard import ${path} takes in what it holds`
}

const MAGIC_AT = 257

/** POSIX and GNU both write it, each with a NUL behind it that no text has: a log may well say `ustar`. */
function isTar(head: Buffer): boolean {
  if (head.toString('latin1', MAGIC_AT, MAGIC_AT + 5) !== 'ustar') return false
  return head[MAGIC_AT + 5] === 0 || head.toString('latin1', MAGIC_AT + 5, MAGIC_AT + 8) === '  \0'
}
