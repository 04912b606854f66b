/** Where a JSON value ends, found as its bytes come in: brackets are counted, not matched, since only parsing can tell if it is right. */

export type ValueSkip = {
  /** The index behind the value's last byte, or -1 when it goes on past these bytes: the next ones go on from there. */
  on(bytes: Buffer, from: number): number
  /** False for a text that a raw newline ends, which cannot stand in one, and for what a byte ended that can stand in no JSON. */
  readonly isWhole: boolean
}

const TAB = 0x09
const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** `isStrict`: a byte that can stand in no JSON, as a NUL or a newline within a text, ends what cannot be parsed any more. */
export function createValueSkip(isStrict = false): ValueSkip {
  let kind: 'bracket' | 'text' | 'scalar' | undefined
  let depth = 0
  let isInText = false
  let isEscaped = false
  let isWhole = true
  return {
    get isWhole() {
      return isWhole
    },
    on(bytes, from) {
      kind ??= kindOf(bytes[from])
      for (let at = from; at < bytes.length; at += 1) {
        const byte = bytes[at] as number
        if (isInText) {
          if (byte === NEWLINE || (isStrict && byte < SPACE)) {
            isInText = false
            isEscaped = false
            if (kind === 'text' || isStrict) {
              isWhole = false
              return at
            }
          } else if (isEscaped) isEscaped = false
          else if (byte === BACKSLASH) isEscaped = true
          else if (byte === QUOTE) {
            isInText = false
            if (kind === 'text') return at + 1
          }
        } else if (kind === 'scalar') {
          if (endsScalar(byte)) return at
        } else if (isStrict && byte < TAB) {
          isWhole = false
          return at
        } else if (byte === QUOTE) isInText = true
        else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1
        else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          depth -= 1
          if (depth === 0) return at + 1
        }
      }
      return -1
    },
  }
}

function kindOf(first: number | undefined): 'bracket' | 'text' | 'scalar' {
  if (first === QUOTE) return 'text'
  return first === OPEN_BRACE || first === OPEN_BRACKET ? 'bracket' : 'scalar'
}

function endsScalar(byte: number): boolean {
  return (
    byte <= 0x20 || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === OPEN_BRACE
  )
}
