/**
 * Whether JSON would be far more in memory than it is as text: told by reading over it once, before anything is made of it. What
 * programs write is mostly text, and is not; a line of 23 MB that is one object of three million names would be 600 MB, and end the
 * process.
 */

/** Below this length no text can fill memory. */
const SAFE_LENGTH = 512 * 1024
/** Bytes of objects, lists and all that is in them, together with the text: who takes a value in makes something else of it as well. */
const MOST_BYTES = 48 * 1024 * 1024
/** Of objects and lists alone, however long the text is. */
const LEAST_BYTES = 12 * 1024 * 1024

/**
 * In bytes, what each takes at most while V8 parses it and has not collected anything yet, measured with a million of each: what is
 * made, what the parser holds until it is, and of objects what is made of them when they are taken in.
 */
const OBJECT = 200
const LIST = 90
/** In a list or an object, besides the value itself. */
const PLACE = 20
/** A string: more than a few letters, or few that were not there yet. */
const STRING = 56
/** A name that was not there yet: also a slot in two tables, and for each a new shape of object. */
const NAME = 200
/** A number that is no small integer. */
const NUMBER = 36

/** Letters up to which V8 holds equal values once. */
const SHARED_LENGTH = 10
/** Longer names are taken for new ones. */
const NAME_LENGTH = 64
/** Digits from which an integer is not small. */
const LARGE_DIGITS = 10

/** `length`: with the strings that were taken out of it. */
export function isSwelling(text: string, length: number = text.length): boolean {
  if (text.length < SAFE_LENGTH) return false
  const most = Math.max(MOST_BYTES - length, LEAST_BYTES)
  const isNew = createNews()
  let bytes = 0
  let digits = 0
  for (let at = 0; at < text.length && bytes <= most; at += 1) {
    const unit = text.charCodeAt(at)
    if (unit >= 0x30 && unit <= 0x39) {
      digits += 1
      if (digits === LARGE_DIGITS) bytes += NUMBER
      continue
    }
    // A point, or an exponent.
    if (digits > 0 && digits < LARGE_DIGITS && (unit === 0x2e || unit === 0x65 || unit === 0x45)) {
      bytes += NUMBER
      digits = LARGE_DIGITS
      continue
    }
    digits = 0
    if (unit === 0x22) {
      const end = endOfString(text, at)
      if (isName(text, end + 1)) bytes += end - at > NAME_LENGTH || isNew(text, at, end) ? NAME : 0
      else if (end - at > SHARED_LENGTH || isNew(text, at, end)) bytes += STRING
      at = end
    } else if (unit === 0x7b) bytes += OBJECT
    else if (unit === 0x5b) bytes += LIST
    else if (unit === 0x2c) bytes += PLACE
  }
  return bytes > most
}

/** More than this many bits are never set: what is new is over the limit by then. */
const BITS = 2 ** 22

/** True the first time that what stands between the two quotes comes; now and then false for another with the same hash. */
function createNews(): (text: string, from: number, to: number) => boolean {
  const seen = new Uint8Array(BITS / 8)
  return (text, from, to) => {
    let hash = 0
    for (let at = from + 1; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    hash = (hash ^ (hash >>> 15)) & (BITS - 1)
    const bit = 1 << (hash & 7)
    const known = seen[hash >>> 3] as number
    seen[hash >>> 3] = known | bit
    return (known & bit) === 0
  }
}

function isName(text: string, behind: number): boolean {
  let at = behind
  while (at < text.length && text.charCodeAt(at) <= 0x20) at += 1
  return text.charCodeAt(at) === 0x3a
}

function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0
    while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1
    if (slashes % 2 === 0) return at
  }
  return text.length
}
