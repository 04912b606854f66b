/** `${CODEX_HOME:-~/.codex}/sessions` → the paths it may mean here. A variable that is not set, and names no other, is no path. */
import { HansardError } from '../errors.ts'

export type TemplateOptions = {
  readonly env: NodeJS.ProcessEnv
  readonly home: string
  readonly platform: NodeJS.Platform
}

/**
 * Absolute paths, or relative ones for what lies in a working directory. Several where a variable lists folders with commas, as
 * `CLAUDE_CONFIG_DIR` may; the whole text is among them, for a folder's name may hold one.
 */
export function expandTemplate(
  template: string,
  { env, home, platform }: TemplateOptions,
): readonly string[] {
  const values = expand(template, (name) => valuesOf(env, name, platform))
  return [...new Set(values.map((path) => withHome(path, home)))]
}

type Lookup = (name: string) => readonly string[]

function expand(template: string, lookup: Lookup): readonly string[] {
  const from = template.indexOf('${')
  if (from === -1) return [template]
  const to = closingBrace(template, from)
  const [name = '', ...otherwise] = template.slice(from + 2, to).split(':-')
  const set = lookup(name)
  const values = set.length === 0 && otherwise.length > 0 ? expand(otherwise.join(':-'), lookup) : set
  const before = template.slice(0, from)
  const after = expand(template.slice(to + 1), lookup)
  return values.flatMap((value) => after.map((rest) => before + value + rest))
}

function closingBrace(template: string, from: number): number {
  let depth = 0
  for (let at = from; at < template.length; at += 1) {
    if (template.startsWith('${', at)) depth += 1
    if (template[at] === '}') depth -= 1
    if (depth === 0 && template[at] === '}') return at
  }
  throw new HansardError('invalid-argument', `the place ${template} has a brace that is not closed`)
}

/** None for a variable that is not set, or empty. */
function valuesOf(env: NodeJS.ProcessEnv, name: string, platform: NodeJS.Platform): readonly string[] {
  const value = (platform === 'win32' ? valueOfAnyCase(env, name) : env[name])?.trim()
  if (value === undefined || value === '') return []
  if (!value.includes(',')) return [value]
  const parts = value.split(',').map((part) => part.trim())
  return [value, ...parts.filter((part) => part !== '')]
}

/** A copy of Windows' environment has lost that names have no case there. */
function valueOfAnyCase(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const key = Object.keys(env).find((key) => key.toUpperCase() === name.toUpperCase())
  return key === undefined ? undefined : env[key]
}

/** Also where a variable's value begins so: no shell stood between whoever wrote it and the agent that takes it. */
function withHome(path: string, home: string): string {
  return path === '~' || /^~[\\/]/.test(path) ? home + path.slice(1) : path
}
