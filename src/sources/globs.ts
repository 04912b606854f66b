/**
 * Which paths a pattern means: `**` any folders, `*` and `?` within a name, `[a-z]`, `[!a]`, `{a,b}`; a dot at the beginning of a
 * name is a character like others. Matching goes folder by folder, so that a walk knows where nothing can match, and takes time
 * in proportion to path × pattern, whatever the pattern.
 */
import { HansardError } from '../errors.ts'
import { expandBraces, parseName, type NameMatcher } from './glob-names.ts'

/** Where in the patterns a path may be, as positions. Empty: nothing below can match. */
export type GlobState = readonly number[]

export type Globs = {
  /** At the root that patterns are relative to. */
  readonly start: GlobState
  /** One name further down. */
  step(state: GlobState, name: string): GlobState
  /** True where a whole pattern has been matched. */
  isWhole(state: GlobState): boolean
  /** Whether a whole pattern ends with this name: `isWhole` of a step, without taking it. */
  ends(state: GlobState, name: string): boolean
  /** A path with `/`, relative to the root. */
  matches(path: string): boolean
  /** Patterns, relative to the root, for those of the matching paths that lie below `folder`, or are it. */
  narrow(folder: string): readonly string[]
}

export type GlobOptions = {
  /** On `win32`, `\` separates names and their case is of no account; elsewhere `\` takes a character's meaning away. */
  readonly platform?: NodeJS.Platform
}

type Segment = NameMatcher | typeof ANY_FOLDERS | typeof END

/** Throws `invalid-argument` for a pattern that is not closed, or too long or branched to be meant. */
export function parseGlobs(
  texts: readonly string[],
  { platform = process.platform }: GlobOptions = {},
): Globs {
  const segments: Segment[] = []
  const starts: number[] = []
  for (const text of texts) {
    for (const plain of expandBraces(checkLength(text), platform)) {
      starts.push(segments.length)
      segments.push(...toSegments(plain, platform), END)
      if (segments.length > MAX_SEGMENTS) throw tooMuch(text)
    }
  }
  return createGlobs(segments, starts)
}

/** A pattern that matches this path alone. */
export function escapeGlob(path: string): string {
  return path.replace(/[*?[{}\\]/g, (character) => (character === '\\' ? '[\\\\]' : `[${character}]`))
}

const ANY_FOLDERS = Symbol('**')
const END = Symbol('end')
const MAX_LENGTH = 4096
const MAX_SEGMENTS = 10_000

function checkLength(text: string): string {
  if (text === '' || text.includes('\0')) {
    throw new HansardError(
      'invalid-argument',
      `a pattern is ${text === '' ? 'empty' : 'not text: it holds a NUL'}`,
    )
  }
  if (text.length > MAX_LENGTH) throw tooMuch(text)
  return text
}

function tooMuch(text: string): HansardError {
  return new HansardError('invalid-argument', `the pattern ${text.slice(0, 60)}… is too long`, {
    hint: 'use several shorter ones',
  })
}

function toSegments(text: string, platform: NodeJS.Platform): readonly Segment[] {
  const names = splitNames(text, platform)
  const segments = names.map((name) => (name === '**' ? ANY_FOLDERS : parseName(name, platform)))
  // `a/**` is what lies in a, not a itself.
  return names.at(-1) === '**' ? [...segments, parseName('*', platform)] : segments
}

/** A `/` inside a class still parts names, as it does for everybody else. */
function splitNames(text: string, platform: NodeJS.Platform): readonly string[] {
  const names = text.split(platform === 'win32' ? /[\\/]/ : '/')
  // `a//b`, `./a` and `a/` mean what they mean to the file system.
  return names.filter((name) => name !== '' && name !== '.')
}

function createGlobs(segments: readonly Segment[], starts: readonly number[]): Globs {
  /** Adds a position, and those that `**` for no folder at all leads to. */
  const reach = (state: Set<number>, position: number): void => {
    for (let at = position; ; at += 1) {
      state.add(at)
      if (segments[at] !== ANY_FOLDERS) return
    }
  }
  const begin = new Set<number>()
  for (const position of starts) reach(begin, position)

  const step = (state: GlobState, name: string): GlobState => {
    if (state.length === 0) return state
    const next = new Set<number>()
    for (const position of state) {
      const segment = segments[position]
      if (segment === ANY_FOLDERS) reach(next, position)
      else if (segment !== END && segment?.matches(name)) reach(next, position + 1)
    }
    return [...next]
  }
  const isWhole = (state: GlobState): boolean => state.some((position) => segments[position] === END)
  const ends = (state: GlobState, name: string): boolean => {
    // A step from `**` leads to itself and to what follows it, of which none is an end.
    for (const position of state) {
      const segment = segments[position]
      if (typeof segment !== 'symbol' && segments[position + 1] === END && segment?.matches(name)) return true
    }
    return false
  }
  const start = [...begin]
  const after = (path: string): GlobState => namesOf(path).reduce(step, start)
  const restOf = (position: number): readonly string[] => {
    const end = segments.indexOf(END, position)
    return segments
      .slice(position, end)
      .map((segment) => (typeof segment === 'symbol' ? '**' : (segment?.text ?? '')))
  }
  return {
    start,
    step,
    isWhole,
    ends,
    matches: (path) => isWhole(after(path)),
    narrow(folder) {
      const names = namesOf(folder).map(escapeGlob)
      return [...new Set(after(folder).map((position) => [...names, ...restOf(position)].join('/')))]
    },
  }
}

function namesOf(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '')
}
