/** What unknown bytes look like, in a few words for an error message: never their content beyond the names of keys. */
import { isUtf8 } from 'node:buffer'
import { peekMembers } from '../formats/peek.ts'
import { isObject, parseJson } from '../transcript/json.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { PACKAGE_BYTES, packageKind, type PackageKind } from './package-kind.ts'

const HEAD_BYTES = 64 * 1024
const SHOWN_KEYS = 6
const SHOWN_FILES = 3

/**
 * What it looks like, and which sort of unknown that is: `unsupported` is a tar or zip file, which is known and not looked into; `damage`
 * something packed that gives nothing.
 */
export type Described = { readonly looks: string; readonly cause: UnknownCause }
export type UnknownCause = 'unknown-format' | 'unsupported' | 'damage'

/** `damage`: what stopped short while the source was read. */
type Looked = Source & { readonly damage?: () => readonly Damage[] }

export async function describeSource(source: Looked): Promise<Described> {
  const broken = await brokenIn(source)
  if (broken !== undefined)
    return { looks: `cut off or damaged: nothing of it could be unpacked (${broken})`, cause: 'damage' }
  const kind = await packageIn(source)
  if (kind === undefined) return { looks: await looksOf(source), cause: 'unknown-format' }
  const looks =
    source.kind === 'file'
      ? `a ${kind} archive`
      : `${await looksOf(source)}, and a ${kind} archive among them`
  return { looks, cause: 'unsupported' }
}

/** Why nothing comes out of a file that holds something; undefined where anything does. */
async function brokenIn(source: Looked): Promise<string | undefined> {
  const [file] = source.kind === 'file' ? await source.list() : []
  if (file === undefined || file.sizeBytes === 0 || (await file.head(1)).length > 0) return undefined
  for await (const chunk of file.chunks()) if (chunk.length > 0) return undefined
  return source.damage?.()[0]?.reason
}

/** Of a folder's files, which may be any number. */
const LOOKED_AT = 50

/** The first that there is. */
async function packageIn(source: Source): Promise<PackageKind | undefined> {
  if (source.isPacked === true) return undefined
  for (const file of (await source.list()).slice(0, LOOKED_AT)) {
    const kind = packageKind(await file.head(PACKAGE_BYTES))
    if (kind !== undefined) return kind
  }
  return undefined
}

async function looksOf(source: Source): Promise<string> {
  const files = await source.list()
  const [first] = files
  if (first === undefined) return 'a folder without files'
  if (source.kind === 'file') return describeFile(first)
  const some = files.slice(0, SHOWN_FILES).map(({ path }) => path)
  const more = files.length > SHOWN_FILES ? ', …' : ''
  return `a folder of ${files.length} ${files.length === 1 ? 'file' : 'files'} (${some.join(', ')}${more}), none of them a transcript`
}

async function describeFile(file: SourceFile): Promise<string> {
  const head = await file.head(HEAD_BYTES)
  if (head.length === 0) return 'empty'
  if (head.every((byte) => byte === 0)) return 'nothing but NUL bytes'
  if (head.includes(0) || !isText(head)) return 'binary'
  const text = head.toString('utf8').trim()
  const whole = parseJson(text)
  if (isObject(whole)) return `a JSON object with ${keys(whole)}`
  if (Array.isArray(whole)) return `a JSON list of ${whole.length}`
  const line = parseJson(text.slice(0, text.indexOf('\n') + 1))
  if (isObject(line)) return `JSON lines with ${keys(line)}`
  const start = peekMembers(head, 0)
  if (start !== undefined && Object.keys(start).length > 0)
    return `the start of a JSON document, or damaged, with ${keys(start)}`
  if (text.startsWith('{') || text.startsWith('[')) return 'the start of a JSON document, or damaged'
  return 'plain text'
}

function keys(object: object): string {
  const names = Object.keys(object)
  if (names.length === 0) return 'no keys'
  return `the keys ${names.slice(0, SHOWN_KEYS).map(short).join(', ')}${names.length > SHOWN_KEYS ? ', …' : ''}`
}

const short = (name: string): string => (name.length > 30 ? `${name.slice(0, 30)}…` : name)

/** The head may end inside a character of up to four bytes. */
function isText(head: Buffer): boolean {
  return [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)))
}
