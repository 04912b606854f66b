/**
 * Codex reads no variable for its provider's address: it takes settings as flags. Where its calls would have gone, by its own settings
 * and flags, is where they then go on to.
 */
import fs from 'node:fs'
import os from 'node:os'
import { basename, join } from 'node:path'

export type CodexPlan = {
  /** Where its calls go on to; absent for OpenAI itself. */
  readonly url?: URL
  /** `base`: the address that it is told. */
  readonly command: (base: string) => readonly string[]
}

/** Undefined for a program that is not Codex, and for one whose provider is none that it can be told of. */
export function planCodex(command: readonly string[], env: NodeJS.ProcessEnv): CodexPlan | undefined {
  const at = programAt(command)
  if (at === -1) return undefined
  const flags = flagsOf(command, at)
  const settings = readSettings(env)
  const said = (key: string): string | undefined => flags.get(key)?.value ?? settings.get(key)
  const profile = profileOf(command, at) ?? settings.get('profile')
  const provider =
    flags.get('model_provider')?.value ??
    (profile === undefined ? undefined : settings.get(`profiles.${profile}.model_provider`)) ??
    settings.get('model_provider') ??
    'openai'
  const key = provider === 'openai' ? 'openai_base_url' : `model_providers.${provider}.base_url`
  const url = toUrl(said(key))
  // Those that it knows by itself, on this machine, have no address that could be said otherwise.
  if (provider !== 'openai' && (url === undefined || !/^[\w-]+$/.test(provider))) return undefined
  return {
    ...(url && { url }),
    command(base) {
      const flag = `${key}="${base}"`
      const own = flags.get(key)
      if (own !== undefined) return command.with(own.at, `${own.before}${flag}`)
      return command.toSpliced(at + 1, 0, '-c', flag)
    },
  }
}

/** What starts programs, and what it may be given before their name. */
const RUNNERS = /^(?:npx|bunx|pnpm|pnpx|yarn|dlx|exec|node|env|-y|--yes|--|[A-Z_][A-Z0-9_]*=.*)$/

function programAt(command: readonly string[]): number {
  const at = command.findIndex(
    (word) => basename(word).replace(/(?:@[\w.-]+)?(?:\.(?:cmd|exe|js))?$/, '') === 'codex',
  )
  return command.slice(0, Math.max(at, 0)).every((word) => RUNNERS.test(basename(word))) ? at : -1
}

type Flag = { readonly at: number; readonly before: string; readonly value: string }

/** `-c key=value` and its other spellings; of one key the last counts. */
function flagsOf(command: readonly string[], from: number): ReadonlyMap<string, Flag> {
  const flags = new Map<string, Flag>()
  for (let at = from + 1; at < command.length; at += 1) {
    const word = command[at] as string
    if (word === '--') break
    const isApart = word === '-c' || word === '--config'
    const before = isApart ? '' : (/^(?:--config=|-c=?)(?=[\w.-]+=)/.exec(word)?.[0] ?? undefined)
    if (before === undefined) continue
    if (isApart) at += 1
    const [, key, value] = /^([\w.-]+)\s*=\s*(.*)$/s.exec((command[at] ?? '').slice(before.length)) ?? []
    if (key !== undefined && value !== undefined) flags.set(key, { at, before, value: unquoted(value) })
  }
  return flags
}

function profileOf(command: readonly string[], from: number): string | undefined {
  for (let at = from + 1; at < command.length; at += 1) {
    const word = command[at] as string
    if (word === '--') return undefined
    if (word === '-p' || word === '--profile') return command[at + 1]
    const [, joined] = /^--profile=(.+)$/.exec(word) ?? []
    if (joined !== undefined) return joined
  }
  return undefined
}

/** Texts of its settings by their whole names, as people write them; whoever writes them otherwise gives the flag himself. */
function readSettings(env: NodeJS.ProcessEnv): ReadonlyMap<string, string> {
  const settings = new Map<string, string>()
  const home = env['CODEX_HOME'] ?? join(env['HOME'] ?? os.homedir(), '.codex')
  let text: string
  try {
    text = fs.readFileSync(join(home, 'config.toml'), 'utf8')
  } catch {
    return settings
  }
  let section = ''
  for (const line of text.split('\n')) {
    const [, table] = /^\s*\[([^[\]]+)\]/.exec(line) ?? []
    if (table !== undefined) section = `${table.replaceAll(/["'\s]/g, '')}.`
    const [, key, value] = /^\s*([\w.-]+)\s*=\s*("[^"]*"|'[^']*')/.exec(line) ?? []
    if (key !== undefined && value !== undefined) settings.set(`${section}${key}`, unquoted(value))
  }
  return settings
}

function unquoted(value: string): string {
  return /^(["']).*\1$/s.test(value) ? value.slice(1, -1) : value
}

function toUrl(text: string | undefined): URL | undefined {
  try {
    const url = new URL(text ?? '')
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined
  } catch {
    return undefined
  }
}
