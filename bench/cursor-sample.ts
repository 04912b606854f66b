/** A `state.vscdb` as Cursor writes it, of about the size asked for, made by rule so that every run has the same. */
import { type Database, openDatabase } from '../src/sqlite/driver.ts'
import { sampleText } from './samples.ts'

const BUBBLES = 60

/** Chats of 60 messages, of some 3 KB each; a quarter of all rows have other keys, and are nobody's to keep. */
export async function writeChats(path: string, bytes: number): Promise<void> {
  const database = await openDatabase(path)
  database.exec(SCHEMA)
  const put = database.prepare('INSERT INTO cursorDiskKV VALUES (?, ?)')
  const size = database.prepare(
    'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
  )
  const add = (key: string, value: object): void => void put.run(key, JSON.stringify(value))
  for (let chat = 0; Number(size.get()?.['bytes']) < bytes; chat += 1)
    database.transaction(() => {
      const ids = Array.from({ length: BUBBLES }, (_, n) => idOf(chat, n))
      add(`composerData:${idOf(chat)}`, chatOf(chat, ids))
      for (const [n, id] of ids.entries()) add(`bubbleId:${idOf(chat)}:${id}`, bubbleOf(id, chat, n))
      for (let n = 0; n < BUBBLES / 3; n += 1)
        add(`${OTHERS[n % OTHERS.length]}${idOf(chat)}:${idOf(chat, n)}`, { data: sampleText(2000, n) })
    })
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
}

/** A message more of the first chat, as Cursor adds it: a row for it, and the chat's own row once more, with its name in it. */
export function addBubble(database: Database, n: number): void {
  const id = idOf(0, 1_000_000 + n)
  const [key, now] = [`composerData:${idOf(0)}`, Date.now()]
  database.transaction(() => {
    const { value } = database.prepare('SELECT value FROM cursorDiskKV WHERE key = ?').get(key) ?? {}
    const chat = JSON.parse(String(value)) as ReturnType<typeof chatOf>
    const headers = [...chat.fullConversationHeadersOnly, { bubbleId: id, type: 2 }]
    const put = database.prepare(
      'INSERT INTO cursorDiskKV VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
    )
    put.run(
      `bubbleId:${idOf(0)}:${id}`,
      JSON.stringify({ ...EMPTY, bubbleId: id, type: 2, text: sampleText(500, n), createdAt: now }),
    )
    put.run(key, JSON.stringify({ ...chat, lastUpdatedAt: now, fullConversationHeadersOnly: headers }))
  })
}

const SCHEMA = `PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
  CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
  CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
  INSERT INTO ItemTable VALUES ('cursorAuth/accessToken', 'none of ours'), ('workbench.view', '{}')`

const OTHERS = ['agentKv:blob:', 'checkpointId:', 'messageRequestContext:']

const idOf = (chat: number, bubble = 0): string =>
  `${String(chat * 7919).padStart(8, '0')}-0000-4000-8000-${String(bubble).padStart(12, '0')}`

const EMPTY = {
  _v: 3,
  attachedCodeChunks: [],
  supportedTools: [],
  toolResults: [],
  capabilities: [],
  context: {
    notepads: [],
    quotes: [],
    selectedDocs: [],
    fileSelections: [],
    folderSelections: [],
    mentions: {},
  },
  tokenCount: { inputTokens: 0, outputTokens: 0 },
  isAgentic: true,
}

function chatOf(chat: number, ids: readonly string[]) {
  const at = 1_770_000_000_000 + chat * 1e6
  return {
    _v: 10,
    composerId: idOf(chat),
    name: `Chat ${chat}`,
    createdAt: at,
    lastUpdatedAt: at + 60_000,
    status: 'completed',
    unifiedMode: 'agent',
    modelConfig: { modelName: 'claude-4.5-sonnet' },
    context: EMPTY.context,
    codeBlockData: { 'file:///home/me/project/src/a.ts': { text: sampleText(1500, chat) } },
    fullConversationHeadersOnly: ids.map((bubbleId, n) => ({ bubbleId, type: n % 2 === 0 ? 1 : 2 })),
  }
}

function bubbleOf(bubbleId: string, chat: number, n: number): object {
  const at = 1_770_000_000_000 + chat * 1e6 + n * 1000
  const own = { ...EMPTY, bubbleId, createdAt: at, requestId: idOf(chat, 500_000 + n) }
  if (n % 2 === 0) return { ...own, type: 1, text: sampleText(400, n), richText: sampleText(800, n) }
  const result = JSON.stringify({ contents: sampleText(2400, n) })
  const rawArgs = JSON.stringify({ target_file: `/home/me/project/src/${n}.ts` })
  const tool = {
    tool: 5,
    toolCallId: `toolu_${chat}_${n}`,
    name: 'read_file',
    rawArgs,
    result,
    status: 'completed',
  }
  return {
    ...own,
    type: 2,
    text: sampleText(500, n),
    toolFormerData: tool,
    modelInfo: { modelName: 'claude-4.5-sonnet' },
  }
}
