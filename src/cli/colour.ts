/**
 * Colours for people, where there is somebody to see them: on a terminal, unless they were declined.
 *
 *     const { green, dim, isOn } = coloursFor(stdout)     // of the stream that the text goes to
 *     await out(`${green('completed')} ${dim(visibleLine(title))}\n`)
 *
 * Foreign text is made visible first and painted after: the escape sequences of this module are the only ones that reach a
 * terminal. What a colour means is said in words too, since many see none. In tables, name the style of a cell instead
 * (`table.ts`), and for a status take `statusStyle`.
 *
 * The first of these that says something decides: `--no-color` (`declineColours`), `NO_COLOR` (set and not empty: off),
 * `FORCE_COLOR` (`0` or `false`: off, else on), `TERM=dumb` (off), whether the stream is a terminal.
 */
import type { Status } from '../transcript/session.ts'
import { stdout } from './streams.ts'

/** Opening and closing code of each: closing one leaves the others on. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const

export type Style = keyof typeof CODES

export type Colours = {
  readonly isOn: boolean
  /** In several styles at once. */
  readonly paint: (text: string, ...styles: readonly Style[]) => string
} & { readonly [S in Style]: (text: string) => string }

let isDeclined = false

/** `--no-color`: from here on nothing is painted. */
export function declineColours(): void {
  isDeclined = true
}

type Stream = { readonly isTTY?: boolean }

export function coloursFor(stream: Stream = stdout, env: NodeJS.ProcessEnv = process.env): Colours {
  const isOn = hasColours(stream, env)
  const paint = (text: string, ...styles: readonly Style[]): string => {
    if (!isOn || text === '') return text
    return styles.reduce((inner, style) => `\x1b[${CODES[style][0]}m${inner}\x1b[${CODES[style][1]}m`, text)
  }
  const each = (style: Style) => (text: string) => paint(text, style)
  return {
    isOn,
    paint,
    bold: each('bold'),
    dim: each('dim'),
    underline: each('underline'),
    red: each('red'),
    green: each('green'),
    yellow: each('yellow'),
    blue: each('blue'),
    magenta: each('magenta'),
    cyan: each('cyan'),
  }
}

export function hasColours({ isTTY = false }: Stream, env: NodeJS.ProcessEnv = process.env): boolean {
  const { NO_COLOR: no, FORCE_COLOR: force, TERM: terminal } = env
  if (isDeclined || no) return false
  if (force !== undefined) return force !== '0' && force !== 'false'
  return isTTY && terminal !== 'dumb'
}

const STATUS_STYLES: Readonly<Record<Status, Style>> = {
  running: 'cyan',
  completed: 'green',
  failed: 'red',
  canceled: 'yellow',
  interrupted: 'yellow',
}

export function statusStyle(status: Status): Style {
  return STATUS_STYLES[status]
}
