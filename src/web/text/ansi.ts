/**
 * What a terminal would show of a program's output: colours and weights as spans, lines overwritten where a carriage return went back.
 * Movements of the cursor, titles and other sequences are left out. Time is linear in the text; text between sequences survives.
 */

export type AnsiStyle = {
  /** 0 to 255, or `#rrggbb`. */
  readonly fg?: number | string
  readonly bg?: number | string
  readonly bold?: true
  readonly dim?: true
  readonly italic?: true
  readonly underline?: true
  readonly strike?: true
  readonly inverse?: true
}
export type AnsiSpan = { readonly text: string; readonly style?: AnsiStyle }

type Style = { -readonly [K in keyof AnsiStyle]: AnsiStyle[K] }

// oxlint-disable-next-line no-control-regex
const SPECIAL = /[\u001b\u009b\r\b]/
// Each alternative has an end in sight, so that an introducer without one costs no more than its own length.
const SEQUENCE =
  // oxlint-disable-next-line no-control-regex
  /(?:\u001b\[|\u009b)([0-9;:<=>?]{0,200})[ -/]{0,8}([@-~])|\u001b[\]PX^_][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)|\u001b[ -/]{0,8}[0-OQ-WYZ\\`-~]/y

export const hasAnsi = (text: string): boolean => SPECIAL.test(text)

export function toAnsi(text: string): readonly AnsiSpan[] {
  if (!SPECIAL.test(text)) return [{ text }]
  const out = createScreen()
  let style: AnsiStyle | undefined
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === 0x1b || code === 0x9b) {
      SEQUENCE.lastIndex = at
      const found = SEQUENCE.exec(text)
      if (found === null) {
        // Not a sequence: shown for what it is.
        out.put(text.charAt(at), style)
        at += 1
        continue
      }
      const [all, given = '', final] = found
      if (final === 'm') style = applySgr(style, given)
      else if (final === 'K') out.erase(given)
      at += all.length
    } else {
      if (code === 0x0d) {
        if (text.charCodeAt(at + 1) !== 0x0a) out.back()
      } else if (code === 0x08) out.left()
      else if (code === 0x0a) out.newLine()
      else out.put(text.charAt(at), style)
      at += 1
    }
  }
  return out.spans()
}

/** One line of cells at a time; those before are spans already. */
function createScreen() {
  const done: { text: string; style: AnsiStyle | undefined }[] = []
  let cells: string[] = []
  let styles: (AnsiStyle | undefined)[] = []
  let column = 0
  const push = (text: string, style: AnsiStyle | undefined): void => {
    const last = done.at(-1)
    if (last !== undefined && last.style === style) last.text += text
    else done.push({ text, style })
  }
  const flush = (): void => {
    let from = 0
    for (let at = 1; at <= cells.length; at += 1) {
      if (at < cells.length && styles[at] === styles[from]) continue
      if (at > from && cells.length > 0) push(cells.slice(from, at).join(''), styles[from])
      from = at
    }
    cells = []
    styles = []
    column = 0
  }
  return {
    put(char: string, style: AnsiStyle | undefined): void {
      cells[column] = char
      styles[column] = style
      column += 1
    },
    back: (): void => void (column = 0),
    left: (): void => void (column = Math.max(0, column - 1)),
    /** To the end, or all of the line, which then begins again: whoever clears a line writes it anew. */
    erase(how: string): void {
      if (how === '1') return
      if (how === '2') column = 0
      cells.length = Math.min(cells.length, column)
      styles.length = cells.length
    },
    newLine(): void {
      flush()
      push('\n', undefined)
    },
    spans(): readonly AnsiSpan[] {
      flush()
      return done.map(({ text, style }) => (style === undefined ? { text } : { text, style }))
    },
  }
}

const FLAGS: { readonly [code: number]: 'bold' | 'dim' | 'italic' | 'underline' | 'strike' | 'inverse' } = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
  21: 'underline',
}
const OFF: { readonly [code: number]: readonly (keyof AnsiStyle)[] } = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
  39: ['fg'],
  49: ['bg'],
}

function applySgr(before: AnsiStyle | undefined, given: string): AnsiStyle | undefined {
  let style: Style = { ...before }
  const codes = given.split(/[;:]/).map(Number)
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    const flag = FLAGS[code]
    if (code === 0) style = {}
    else if (flag !== undefined) style[flag] = true
    else if (code >= 30 && code <= 37) style.fg = code - 30
    else if (code >= 90 && code <= 97) style.fg = code - 82
    else if (code >= 40 && code <= 47) style.bg = code - 40
    else if (code >= 100 && code <= 107) style.bg = code - 92
    else if (code === 38 || code === 48) {
      const { colour, length } = extended(codes.slice(at + 1, at + 6))
      if (colour !== undefined) style[code === 38 ? 'fg' : 'bg'] = colour
      at += length
    } else for (const name of OFF[code] ?? []) delete style[name]
  }
  return Object.keys(style).length === 0 ? undefined : style
}

const byte = (value: number | undefined): value is number =>
  value !== undefined && Number.isInteger(value) && value >= 0 && value <= 255

function extended([how, ...rest]: readonly number[]): { colour?: number | string; length: number } {
  if (how === 5) return { ...(byte(rest[0]) && { colour: rest[0] }), length: 2 }
  if (how !== 2) return { length: 0 }
  const [red, green, blue] = rest
  if (!byte(red) || !byte(green) || !byte(blue)) return { length: 4 }
  return {
    colour: `#${[red, green, blue].map((part) => part.toString(16).padStart(2, '0')).join('')}`,
    length: 4,
  }
}

/** The 256 colours' own, from 16 on: a cube of six steps and a ramp of greys. */
export function paletteColour(index: number): string {
  if (index >= 232) return grey(8 + (index - 232) * 10)
  const at = index - 16
  const step = (value: number): number => (value === 0 ? 0 : 55 + value * 40)
  return `rgb(${step(Math.floor(at / 36))} ${step(Math.floor(at / 6) % 6)} ${step(at % 6)})`
}

const grey = (value: number): string => `rgb(${value} ${value} ${value})`
