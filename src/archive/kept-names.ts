/**
 * What kept files are called: the names they had, as far as every file system takes them, else with `%` and two hex digits for
 * what it does not, as in an address. Paths come from listings of folders that others write: nothing in them leads elsewhere.
 */
import { HansardError } from '../errors.ts'

/** Bytes of a name: leaves room for `.<version>.gz` below the 255 that file systems take. */
const LONGEST = 200

/** Ends a name that goes on in the folder below. */
const GOES_ON = '%~'
/** Ends the name of a file where a folder has it already, or of a folder where a file has. */
const SECOND = '%!'

/** Half of a character, which no name on disk can have. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

/** Names as they are on disk, from the top. Throws `unsafe-path` for what is no path below a folder. */
export function toNames(path: string): readonly string[] {
  const parts = path.split('/')
  const bad = parts.some((part) => part === '' || part === '.' || part === '..')
  if (bad || path.includes('\0') || LONE_SURROGATE.test(path)) {
    throw new HansardError('unsafe-path', `not a path below the place: ${JSON.stringify(path.slice(0, 200))}`)
  }
  return parts.flatMap((part) => shorten(encode(part)))
}

/** The path that has these names; undefined for names that no path has. */
export function fromNames(names: readonly string[]): string | undefined {
  const whole = names.map((name) => (name.endsWith(SECOND) ? name.slice(0, -SECOND.length) : name))
  try {
    const path = decodeURIComponent(whole.join('/').replaceAll(`${GOES_ON}/`, ''))
    const again = toNames(path)
    const isSame = again.length === names.length && again.every((name, at) => isName(names[at] ?? '', name))
    return isSame ? path : undefined
  } catch {
    return undefined
  }
}

function isName(name: string, plain: string): boolean {
  return name === plain || otherNames(plain).includes(name)
}

/** Further names for one that is taken: by a file where a folder is to be, or by one that differs only in case. */
export function otherNames(name: string): readonly string[] {
  const [stem, end] = name.endsWith(GOES_ON) ? [name.slice(0, -GOES_ON.length), GOES_ON] : [name, '']
  const lower = stem.replace(/%[0-9A-F]{2}|[^\x20-\x7e]|[A-Z]/gu, (found) =>
    found.length === 3 && found.startsWith('%') ? found : escape(found),
  )
  return [`${lower}${end}`, ...(end === '' ? [`${stem}${SECOND}`, `${lower}${SECOND}`] : [])]
}

/** Control characters, what Windows does not take, and the escape itself. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\x00-\x1f\x7f<>:"|?*\\%]/g
/** Names that Windows gives to devices, whatever follows the first dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

function encode(part: string): string {
  const name = part.replace(FORBIDDEN, escape).replace(/[. ]$/, escape)
  return isDevice(name) ? escape(name.charAt(0)) + name.slice(1) : name
}

/** No device has a longer name before its first dot. */
const LONGEST_DEVICE = 4

function isDevice(name: string): boolean {
  const dot = name.indexOf('.')
  return (dot === -1 ? name.length : dot) <= LONGEST_DEVICE && DEVICE.test(name)
}

function escape(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
}

/** A long name as folders in each other. No character and no escape is cut in two. */
function shorten(name: string): readonly string[] {
  if (Buffer.byteLength(name) <= LONGEST) return [name]
  const names: string[] = []
  let held = ''
  let bytes = 0
  for (const [piece] of name.matchAll(/%[0-9A-F]{2}|./gsu)) {
    const length = Buffer.byteLength(piece)
    if (bytes + length > LONGEST) {
      names.push(`${held}${GOES_ON}`)
      held = ''
      bytes = 0
    }
    held += piece
    bytes += length
  }
  return [...names, held]
}
