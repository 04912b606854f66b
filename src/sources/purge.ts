/**
 * Agents that delete their own logs: after how long, and which setting says so. Read from their settings, and from what they do
 * where these say nothing. Settings that cannot be understood give no warning, and a problem.
 */
import os from 'node:os'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../transcript/json.ts'
import { expandTemplate } from './place-templates.ts'
import { realFolder } from './places.ts'
import { readSettings } from './settings.ts'
import type { OnProblem } from './walk.ts'

export type PurgeWarning = {
  readonly agent: string
  /** The place whose files go. */
  readonly root: string
  /** From a file's last change; 0 for at once. Absent where only a number of sessions is kept. */
  readonly deletesAfterDays?: number
  /** Only so many of the newest sessions of a project are kept. */
  readonly keepsNewest?: number
  /** The file that says so, or where it can be said otherwise. */
  readonly settings: string
  readonly reason: string
}

export type PurgeOptions = { readonly platform?: NodeJS.Platform; readonly onProblem?: OnProblem }

/** Codex is not among them: it compresses what is a week old, and deletes nothing by itself. */
export function purgeWarnings(
  env: NodeJS.ProcessEnv,
  home: string = os.homedir(),
  { platform = process.platform, onProblem = () => {} }: PurgeOptions = {},
): readonly PurgeWarning[] {
  const expand = (template: string): readonly string[] => expandTemplate(template, { env, home, platform })
  return [
    ...CLAUDE_FOLDERS.flatMap(expand).flatMap((folder) => ofClaude(folder, platform, onProblem)),
    ...expand('${GEMINI_CLI_HOME:-~}/.gemini').flatMap((folder) =>
      ofGemini(folder, { env, platform, onProblem }),
    ),
  ].filter(({ root }, at, all) => all.findIndex((other) => other.root === root) === at)
}

/**
 * True for a file that goes within a week, or may go any day: those past their time are still there when the agent has not
 * been started since. Both times in milliseconds since 1970.
 */
export function atRisk(modifiedMs: number, { deletesAfterDays }: PurgeWarning, nowMs: number): boolean {
  if (deletesAfterDays === undefined) return true
  return nowMs - modifiedMs >= (deletesAfterDays - SOON_DAYS) * DAY_MS
}

const DAY_MS = 86_400_000
const SOON_DAYS = 7

const CLAUDE_FOLDERS = ['${CLAUDE_CONFIG_DIR:-~/.claude}', '${XDG_CONFIG_HOME:-~/.config}/claude']
const CLAUDE_DEFAULT_DAYS = 30
const CLAUDE_MANAGED: Partial<Record<NodeJS.Platform, string>> = {
  darwin: '/Library/Application Support/ClaudeCode/managed-settings.json',
  linux: '/etc/claude-code/managed-settings.json',
  win32: 'C:\\Program Files\\ClaudeCode\\managed-settings.json',
}

function ofClaude(folder: string, platform: NodeJS.Platform, onProblem: OnProblem): readonly PurgeWarning[] {
  const root = realFolder(join(folder, 'projects'), onProblem)
  if (root === undefined) return []
  const user = join(folder, 'settings.json')
  const layers = readLayers([user, CLAUDE_MANAGED[platform]], onProblem)
  if (layers === undefined) return []
  const said = layers.findLast(({ value }) => 'cleanupPeriodDays' in value)
  const days = said === undefined ? CLAUDE_DEFAULT_DAYS : said.value['cleanupPeriodDays']
  const settings = said?.path ?? user
  if (typeof days !== 'number' || !(days >= 0)) {
    onProblem(settings, { cause: 'settings', reason: 'cleanupPeriodDays is not a number of days' })
    return []
  }
  const reason =
    days === 0
      ? 'cleanupPeriodDays is 0: versions before 2.1.89 delete every session when they start'
      : `Claude Code deletes sessions that were not used for ${days} days${said === undefined ? ', its default' : ''}`
  return [{ agent: 'claude-code', root, deletesAfterDays: days, settings, reason }]
}

type GeminiOptions = {
  readonly env: NodeJS.ProcessEnv
  readonly platform: NodeJS.Platform
  readonly onProblem: OnProblem
}

const GEMINI_DEFAULT = { enabled: true, maxAge: '30d' }
const GEMINI_SYSTEM: Partial<Record<NodeJS.Platform, string>> = {
  darwin: '/Library/Application Support/GeminiCli',
  linux: '/etc/gemini-cli',
  win32: 'C:\\ProgramData\\gemini-cli',
}

function ofGemini(folder: string, { env, platform, onProblem }: GeminiOptions): readonly PurgeWarning[] {
  const root = realFolder(join(folder, 'tmp'), onProblem)
  if (root === undefined) return []
  const user = join(folder, 'settings.json')
  const system = GEMINI_SYSTEM[platform]
  const below = env['GEMINI_CLI_SYSTEM_DEFAULTS_PATH'] ?? (system && join(system, 'system-defaults.json'))
  const above = env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] ?? (system && join(system, 'settings.json'))
  const layers = readLayers([below, user, above], onProblem)
  if (layers === undefined) return []
  const said = layers.flatMap(({ path, value }) => {
    const retention = isObject(value['general']) ? value['general']['sessionRetention'] : undefined
    return isObject(retention) ? [{ path, retention }] : []
  })
  const retention = said.reduce<JsonObject>(
    (all, { retention }) => ({ ...all, ...retention }),
    GEMINI_DEFAULT,
  )
  if (retention['enabled'] !== true) return []
  const settings = said.at(-1)?.path ?? user
  const days = toDays(retention['maxAge'])
  const { maxCount } = retention
  const keepsNewest = typeof maxCount === 'number' && maxCount >= 1 ? maxCount : undefined
  if (days === undefined && keepsNewest === undefined) {
    // Gemini CLI then deletes nothing, and says so only in its debug log.
    onProblem(settings, { cause: 'settings', reason: 'general.sessionRetention.maxAge is no age' })
    return []
  }
  const limits = [
    ...(days === undefined ? [] : [`that were not used for ${days} days`]),
    ...(keepsNewest === undefined ? [] : [`past the newest ${keepsNewest} of a project`]),
  ]
  const reason = `Gemini CLI deletes sessions ${limits.join(', and those ')}${said.length === 0 ? ', its default' : ''}`
  return [
    {
      agent: 'gemini-cli',
      root,
      // Where both hold, the number may strike first, and no date tells when.
      ...(days !== undefined && keepsNewest === undefined && { deletesAfterDays: days }),
      ...(keepsNewest !== undefined && { keepsNewest }),
      settings,
      reason,
    },
  ]
}

type Layer = { readonly path: string; readonly value: JsonObject }

/** From the weakest to the strongest; undefined when one cannot be understood, for it may be the one that counts. */
function readLayers(
  paths: readonly (string | undefined)[],
  onProblem: OnProblem,
): readonly Layer[] | undefined {
  const layers: Layer[] = []
  for (const path of paths) {
    const value = path === undefined ? undefined : readSettings(path, onProblem)
    if (value === 'damaged') return undefined
    if (path !== undefined && value !== undefined) layers.push({ path, value })
  }
  return layers
}

/** `24h`, `30d`, `8w`, `2m` (of 30 days). */
function toDays(age: unknown): number | undefined {
  const [, count, unit = ''] = (typeof age === 'string' && /^(\d{1,6})([hdwm])$/.exec(age)) || []
  if (count === undefined || Number(count) === 0) return undefined
  return (Number(count) * ({ h: 1, d: 24, w: 168, m: 720 }[unit] ?? 24)) / 24
}
