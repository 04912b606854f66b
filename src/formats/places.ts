/**
 * Where every agent keeps its files, apart from the formats that read them: a sync that finds nothing new knows where to look
 * without loading one of them.
 */
import { EDITORS, PLACES as CLINE } from './cline-places.ts'
import type { Place, RowsKept } from './format.ts'

const CLAUDE_FILES = ['**/*.jsonl', '**/subagents/**/*.meta.json', '**/tool-results/*']
const OPENCODE = '${XDG_DATA_HOME:-~/.local/share}/opencode'
const KILO = '${XDG_DATA_HOME:-~/.local/share}/kilo'

/** The tables of OpenCode's database that hold sessions, with Kilo's own; others hold accounts and what is shared. */
export const OPENCODE_TABLES: readonly string[] = [
  'session',
  'part',
  'message',
  'session_message',
  'session_input',
  'todo',
  'event',
  'kilo_board',
  'kilo_board_message',
]
const APPENDED: ReadonlySet<string> = new Set(['event', 'kilo_board_message'])
export const OPENCODE_ROWS: readonly RowsKept[] = OPENCODE_TABLES.map((table) => ({
  table,
  ...(APPENDED.has(table) ? { isAppended: true } : { changedAt: 'time_updated' }),
}))

/** Keys of Cursor's tables that hold chats. */
export const CURSOR_KEYS = { chat: 'composerData:', bubble: 'bubbleId:' } as const
export const CURSOR_TABLES = ['cursorDiskKV', 'ItemTable'] as const
export const CHAT_ROWS: readonly RowsKept[] = CURSOR_TABLES.map((table) => ({
  table,
  where: { column: 'key', prefixes: [CURSOR_KEYS.chat, CURSOR_KEYS.bubble], heads: CURSOR_KEYS.chat },
}))
export const STORE_ROWS: readonly RowsKept[] = [{ table: 'meta' }, { table: 'blobs' }]

const GOOSE: readonly string[] = [
  '${XDG_DATA_HOME:-~/.local/share}/goose/sessions',
  '${GOOSE_PATH_ROOT}/data/sessions',
  '~/Library/Application Support/Block.goose/sessions',
  '~/Library/Application Support/Block/goose/sessions',
  '${APPDATA}/Block/goose/data/sessions',
]

/** By the format's id, in the order of the list of formats. */
export const PLACES = {
  devflow: [
    {
      folders: ['./.devflow'],
      files: ['runs/*/metadata.json', 'runs/*/transcript.json', 'runs/*/transcript.json.gz'],
    },
  ],
  weakincentives: [
    { folders: ['./agent_transcripts', './transcripts'], files: ['**/*TranscriptEntry*.jsonl'] },
  ],
  leslie: [{ folders: ['./.leslie/threads'], files: ['*/.meta/transcripts/*.txt'] }],
  entire: [
    {
      folders: ['./.entire/metadata'],
      files: ['*/*.jsonl', '*/*.jsonl.*', '*/full.log*', '*/*.{json,txt,md}', '*/tasks/**/*.{json,jsonl}'],
    },
  ],
  swarm: [
    {
      folders: ['./swarm/runs'],
      files: ['*/*/llm/*.jsonl', '*/*/receipts/*.json', '*/events.jsonl', '*/*/events.jsonl'],
    },
  ],
  'claude-code': [
    {
      folders: ['${CLAUDE_CONFIG_DIR:-~/.claude}/projects', '~/.config/claude/projects'],
      files: CLAUDE_FILES,
    },
    {
      folders: ['~/Library/Application Support/Claude/local-agent-mode-sessions'],
      files: CLAUDE_FILES.map((glob) => `**/projects/${glob}`),
    },
  ],
  codex: [
    {
      folders: ['${CODEX_HOME:-~/.codex}/sessions', '${CODEX_HOME:-~/.codex}/archived_sessions'],
      // What has not been touched for a week is compressed where it lies.
      files: ['**/*.jsonl', '**/*.jsonl.zst'],
    },
    // What its threads are called.
    { folders: ['${CODEX_HOME:-~/.codex}'], files: ['session_index.jsonl'] },
  ],
  pi: [
    {
      folders: ['${PI_CODING_AGENT_SESSION_DIR}', '${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions'],
      files: ['**/*.jsonl'],
    },
    // OpenClaw's sessions are written by pi's own code.
    { folders: ['${OPENCLAW_STATE_DIR:-~/.openclaw}/agents'], files: ['*/sessions/**/*.jsonl'] },
  ],
  'gemini-cli': [
    {
      // The variable stands for the home folder, not for `.gemini`.
      folders: ['${GEMINI_CLI_HOME:-~}/.gemini/tmp'],
      // A session knows its project only by a hash; the folder's name lies beside `chats`.
      files: ['*/chats/**/*.json', '*/chats/**/*.jsonl', '*/.project_root'],
    },
  ],
  opencode: [
    { folders: [OPENCODE], files: ['opencode*.db'], rows: OPENCODE_ROWS },
    { folders: [OPENCODE], files: ['storage/**/*.json'] },
  ],
  kilo: [
    { folders: [KILO], files: ['kilo*.db'], rows: OPENCODE_ROWS },
    // `session_diff` beside them says again what the database has.
    { folders: [KILO], files: ['storage/{session,message,part,todo}/**/*.json'] },
  ],
  'copilot-cli': [
    {
      folders: ['${COPILOT_HOME:-~/.copilot}/session-state'],
      files: ['*.jsonl', '*/events.jsonl', '*/workspace.yaml'],
      beside: ['*/workspace.yaml'],
    },
  ],
  qwen: [{ folders: ['~/.qwen'], files: ['projects/*/chats/**/*.jsonl', 'tmp/*/chats/**/*.jsonl'] }],
  kimi: [
    {
      folders: ['${KIMI_CODE_HOME:-~/.kimi-code}/sessions'],
      files: ['*/*/agents/*/wire.jsonl', '*/*/state.json'],
      beside: ['*/*/state.json'],
    },
    { folders: ['${KIMI_SHARE_DIR:-~/.kimi}/sessions'], files: ['*/*/wire.jsonl'] },
  ],
  iflow: [{ folders: ['~/.iflow/projects'], files: ['**/session-*.jsonl'] }],
  grok: [
    {
      folders: ['~/.grok/sessions'],
      files: ['**/chat_history.jsonl', '**/summary.json'],
      beside: ['**/summary.json'],
    },
  ],
  cline: CLINE,
  droid: [
    {
      folders: ['~/.factory/sessions'],
      files: ['**/*.jsonl', '**/*.settings.json'],
      beside: ['**/*.settings.json'],
    },
  ],
  antigravity: [{ folders: ['~/.gemini/antigravity-cli', '~/.gemini/antigravity'], files: ['**/*.jsonl'] }],
  hermes: [
    {
      folders: ['${HERMES_HOME:-~/.hermes}'],
      files: ['state.db'],
      rows: [{ table: 'sessions' }, { table: 'messages' }, { table: 'system_prompts' }],
    },
    { folders: ['${HERMES_HOME:-~/.hermes}/sessions'], files: ['*.json'] },
  ],
  aider: [{ folders: ['./'], files: ['.aider.chat.history.md'] }],
  amp: [
    {
      folders: [
        '${XDG_DATA_HOME:-~/.local/share}/amp/threads',
        '${APPDATA}/amp/threads',
        // Before threads had a folder of their own.
        ...EDITORS.map((editor) => `${editor}/globalStorage/sourcegraph.amp/threads3`),
      ],
      files: ['T-*.json'],
    },
  ],
  continue: [{ folders: ['${CONTINUE_GLOBAL_DIR:-~/.continue}/sessions'], files: ['*.json'] }],
  goose: [
    {
      folders: GOOSE,
      files: ['sessions.db'],
      rows: [{ table: 'sessions' }, { table: 'messages' }, { table: 'usage_ledger' }],
    },
    { folders: GOOSE, files: ['*.jsonl'] },
  ],
  openhands: [
    {
      folders: ['~/.openhands/conversations', '~/.openhands/sessions', '~/.openhands-state/sessions'],
      files: ['*/events/*.json', '*/base_state.json'],
    },
  ],
  cursor: [
    {
      folders: ['~/.cursor/projects'],
      files: ['*/agent-transcripts/**/*.jsonl', '*/agent-transcripts/**/*.txt'],
    },
    { folders: ['~/.cursor/chats'], files: ['*/*/store.db'], rows: STORE_ROWS },
    {
      folders: [
        '~/Library/Application Support/Cursor/User/globalStorage',
        '${XDG_CONFIG_HOME:-~/.config}/Cursor/User/globalStorage',
        '${APPDATA}/Cursor/User/globalStorage',
      ],
      files: ['state.vscdb'],
      rows: CHAT_ROWS,
    },
  ],
} as const satisfies { readonly [format: string]: readonly Place[] }

/** The same as a list: all that is needed of a format to find its files. */
export const PLACED: readonly { readonly id: string; readonly places: readonly Place[] }[] = Object.entries(
  PLACES,
).map(([id, places]) => ({ id, places }))
