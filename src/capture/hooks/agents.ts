/**
 * Which agents can be made to call us, where their settings say so, and in what words. One agent may have two places: Codex tells of
 * a finished turn by `notify`, and of more by hooks.
 */
import { join } from 'node:path'
import type { HookAgent } from './entry.ts'

export type Scope = 'user' | 'project'

export type AgentFolders = {
  readonly env: NodeJS.ProcessEnv
  /** The user's folder. */
  readonly home: string
  /** The project's. */
  readonly cwd: string
}

/** The command as words, and as one line of a shell. */
export type HookCommand = { readonly words: readonly string[]; readonly line: string }

export type JsonTarget = {
  readonly kind: 'json'
  readonly file: (scope: Scope, folders: AgentFolders) => string
  /** Whether the agent takes comments and a comma after the last. */
  readonly comments: boolean
  /** What the file must say before it says anything else. */
  readonly needs?: Readonly<Record<string, number>>
  readonly events: readonly string[]
  readonly entry: (command: HookCommand) => unknown
}

export type TomlTarget = {
  readonly kind: 'toml'
  readonly file: (scope: Scope, folders: AgentFolders) => string | undefined
  /** A key of the root whose value is the command's words. */
  readonly key: string
}

export type Agent = {
  readonly id: HookAgent
  readonly title: string
  readonly targets: readonly (JsonTarget | TomlTarget)[]
  /** What is still to be done by hand, where the agent asks for it. */
  readonly note?: string
  /** Files of a project that belong to one person alone: the command may name this machine's paths. */
  readonly isOwnInProject?: boolean
}

/** Seconds. We take a tenth of one; an agent that waits for us must not wait longer than this. */
const TIMEOUT_S = 10

/** Claude Code's shape, which Codex has taken over. */
const inGroup = ({ line }: HookCommand): unknown => ({
  hooks: [{ type: 'command', command: line, timeout: TIMEOUT_S }],
})

export const AGENTS: readonly Agent[] = [
  {
    id: 'claude-code',
    title: 'Claude Code',
    isOwnInProject: true,
    targets: [
      {
        kind: 'json',
        file: (scope, { env, home, cwd }) =>
          scope === 'user'
            ? join(env['CLAUDE_CONFIG_DIR'] || join(home, '.claude'), 'settings.json')
            : join(cwd, '.claude', 'settings.local.json'),
        comments: false,
        events: ['SessionStart', 'Stop', 'SubagentStop', 'PreCompact', 'SessionEnd'],
        entry: inGroup,
      },
    ],
  },
  {
    id: 'codex',
    title: 'Codex',
    note: 'Codex runs new hooks once they are trusted: /hooks in Codex; notify works at once',
    targets: [
      {
        kind: 'toml',
        // Codex passes over `notify` in a project's settings, with a warning.
        file: (scope, folders) => (scope === 'user' ? join(codexHome(folders), 'config.toml') : undefined),
        key: 'notify',
      },
      {
        kind: 'json',
        file: (scope, folders) =>
          join(scope === 'user' ? codexHome(folders) : join(folders.cwd, '.codex'), 'hooks.json'),
        comments: false,
        events: ['SessionStart', 'Stop', 'SubagentStop', 'PreCompact'],
        entry: inGroup,
      },
    ],
  },
  {
    id: 'gemini-cli',
    title: 'Gemini CLI',
    targets: [
      {
        kind: 'json',
        file: (scope, { env, home, cwd }) =>
          join(scope === 'user' ? env['GEMINI_CLI_HOME'] || home : cwd, '.gemini', 'settings.json'),
        comments: true,
        events: ['AfterAgent', 'PreCompress', 'SessionEnd'],
        // Its times are in milliseconds.
        entry: ({ line }) => ({
          hooks: [{ name: 'hansard', type: 'command', command: line, timeout: TIMEOUT_S * 1000 }],
        }),
      },
    ],
  },
  {
    id: 'copilot-cli',
    title: 'Copilot CLI',
    targets: [
      {
        kind: 'json',
        // It reads every file of this folder.
        file: (scope, { env, home, cwd }) =>
          scope === 'user'
            ? join(env['COPILOT_HOME'] || join(home, '.copilot'), 'hooks', 'hansard.json')
            : join(cwd, '.github', 'hooks', 'hansard.json'),
        comments: false,
        needs: { version: 1 },
        events: ['agentStop', 'subagentStop', 'preCompact', 'sessionEnd'],
        entry: ({ line }) => ({
          type: 'command',
          bash: line,
          powershell: `& ${line}`,
          timeoutSec: TIMEOUT_S,
        }),
      },
    ],
  },
  {
    id: 'cursor',
    title: 'Cursor',
    targets: [
      {
        kind: 'json',
        file: (scope, { home, cwd }) => join(scope === 'user' ? home : cwd, '.cursor', 'hooks.json'),
        comments: false,
        needs: { version: 1 },
        events: ['stop', 'subagentStop', 'preCompact', 'sessionEnd'],
        entry: ({ line }) => ({ command: line, timeout: TIMEOUT_S }),
      },
    ],
  },
]

const codexHome = ({ env, home }: AgentFolders): string => env['CODEX_HOME'] || join(home, '.codex')

export function findAgent(id: HookAgent): Agent {
  return AGENTS.find((agent) => agent.id === id) as Agent
}

/** `program`: this one, as words that start it. */
export function hookCommand(program: readonly string[], agent: HookAgent, archive?: string): HookCommand {
  const words = [...program, 'hook', agent, ...(archive === undefined ? [] : ['--home', archive])]
  return { words, line: words.map(quoted).join(' ') }
}

/** As a POSIX shell takes it, which is what agents ask, on Windows too. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return `"${word.replaceAll(/["$`\\]/g, '\\$&')}"`
}

/** True for a command that calls us for this agent, wherever the program lay then. */
export function isOurs(text: unknown, agent: HookAgent): boolean {
  if (typeof text !== 'string' || text.length > 8192) return false
  const at = text.search(new RegExp(`hook ${agent}(?: |$)`))
  return at !== -1 && /(?:^|[\\/"\s])hansard(?:\.js)?"? $/.test(text.slice(0, at))
}

export function areOurs(words: unknown, agent: HookAgent): boolean {
  return Array.isArray(words) && isOurs(words.filter((word) => typeof word === 'string').join(' '), agent)
}
