/**
 * What is not to be looked at, as people write it: `~/private`, `/srv/clients/**`, `**\/secret/**`, `*.tmp`. A folder that is
 * excluded takes all that is in it along.
 */
import { isAbsolute } from 'node:path'
import { escapeGlob, parseGlobs, type Globs, type GlobState } from './globs.ts'

export type Exclusion = {
  readonly globs: Globs
  /** Where the patterns are at a root: those of absolute paths have come down to it. */
  startAt(root: string): GlobState
  /** True for a path that a pattern names, or that lies below one. */
  isExcluded(root: string, path: string): boolean
}

export type ExcludeOptions = { readonly home: string; readonly platform?: NodeJS.Platform }

/**
 * A pattern that begins with `/`, `~/` or `**` is about whole paths, any other about paths below each root, and one without a `/`
 * about every name there. Throws `invalid-argument` for what is no pattern.
 */
export function parseExclude(
  patterns: readonly string[],
  { home, platform = process.platform }: ExcludeOptions,
): Exclusion {
  const relative: string[] = []
  const absolute: string[] = []
  for (const pattern of patterns) {
    // As it was written, so that what is wrong with it is said of nothing that nobody wrote.
    parseGlobs([pattern], { platform })
    const text = platform === 'win32' ? pattern.replaceAll('\\', '/') : pattern
    if (text === '~' || text.startsWith('~/'))
      absolute.push(escapeGlob(toNames(home, platform)) + text.slice(1))
    else if (isAbsolute(text) || /^[a-z]:\//i.test(text) || text.startsWith('**/')) absolute.push(text)
    else relative.push(text.replace(/\/$/, '').includes('/') ? text : `**/${text}`)
  }
  // One table for both; where each begins tells them apart.
  const globs = parseGlobs([...relative, ...absolute], { platform })
  const relativeStart = relative.length === 0 ? [] : parseGlobs(relative, { platform }).start
  const isRelative = new Set(relativeStart)
  const absoluteStart = globs.start.filter((position) => !isRelative.has(position))

  const startAt = (root: string): GlobState => {
    let state: GlobState = absoluteStart
    for (const name of toNames(root, platform).split('/').filter(Boolean)) {
      if (globs.isWhole(state)) return state
      state = globs.step(state, name)
    }
    return [...relativeStart, ...state]
  }
  return {
    globs,
    startAt,
    isExcluded(root, path) {
      let state = startAt(root)
      for (const name of path.split('/')) {
        if (globs.isWhole(state)) return true
        state = globs.step(state, name)
      }
      return globs.isWhole(state)
    },
  }
}

function toNames(path: string, platform: NodeJS.Platform): string {
  return platform === 'win32' ? path.replaceAll('\\', '/') : path
}
