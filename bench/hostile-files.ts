/**
 * What nobody writes by accident, or only an unlucky one does: logs of nothing but line ends, brackets or names that nobody has heard of,
 * titles of 10 MB, archives with more members than anybody unpacks, rows of many MB. Each case makes its files below a folder, and says
 * what a sync has to find in them.
 */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '../src/sqlite/driver.ts'
import { sessionId } from './claude-logs.ts'
import {
  claudeRecord,
  DOCUMENTS,
  writeDocument,
  writeGzip,
  writePieces,
  writeStoredZip,
} from './huge-files.ts'
import type { Case, Make } from './huge.bench.ts'
import { SCHEMA } from './opencode-sample.ts'

const anything = (): boolean => true
const LOG = `claude/projects/-p/${sessionId(1)}.jsonl`

export const HOSTILE: Readonly<Record<string, Make>> = {
  ...lines({
    'line ends': '\n',
    'lines of one digit': '1\n',
    'empty objects': '{}\n',
    'empty lists': '[]\n',
    NULs: '\0',
    brackets: '[',
    'objects in objects': '{"a":',
    'lines that are no JSON': '{"type":"user",x\n',
  }),
  'names: a million keys that nobody knows': (folder, size) =>
    log(folder, size(1e5), (n) =>
      claudeRecord(sessionId(1), n).replace(
        '{',
        `{${Array.from({ length: 10 }, (_, at) => `"key-${n}-${at}":1,`).join('')}`,
      ),
    ),
  'names: a million versions, folders, models and tools': (folder, size) =>
    log(folder, size(1e6), (n) =>
      claudeRecord(sessionId(1), 2 * n + 1, 'x')
        .replace('2.1.0', `2.1.${n}`)
        .replace('/home/me/project', `/home/me/${n}`)
        .replace('claude-sonnet-4-5', `model-${n}`)
        .replace(
          '"content":[',
          `"content":[{"type":"tool_use","id":"t${n}","name":"tool-${n}","input":{"file_path":"/a/${n}"}},`,
        ),
    ),
  'names: a million of 10 KB': (folder, size) =>
    log(folder, size(1e5), (n) => {
      const name = `${n}${'n'.repeat(10_000)}`
      return claudeRecord(sessionId(1), 2 * n + 1, 'x')
        .replace('2.1.0', name)
        .replace('/home/me/project', name)
        .replace('claude-sonnet-4-5', name)
        .replace('msg_', `${name}_`)
        .replace(
          '"content":[',
          `"content":[{"type":"tool_use","id":"${name}","name":"${name}","input":{"file_path":"/${name}"}},`,
        )
    }),
  'names: 50 tools a call, each with a name of its own of 1,000 characters': (folder, size) =>
    log(folder, size(4000), (n) => manyTools(n, 1000)),
  'names: 50 tools a call, each with a name of its own of 100 characters': (folder, size) =>
    log(folder, size(40_000), (n) => manyTools(n, 100)),
  'titles: 100 of 10 MB, a log each': (folder, size) => {
    const title = 'a title 漢 '.repeat(size(1e6))
    for (let n = 0; n < 100; n += 1) {
      const path = fileIn(folder, `claude/projects/-p/${sessionId(n)}.jsonl`)
      fs.writeFileSync(path, claudeRecord(sessionId(n), 0))
      fs.appendFileSync(path, `{"type":"summary","summary":"${n} ${title}","leafUuid":"u0"}\n`)
      fs.appendFileSync(
        path,
        `{"type":"custom-title","customTitle":"${n} ${title}","sessionId":"${sessionId(n)}"}\n`,
      )
    }
    return { args: ['sync'], expect: ({ sessions }) => sessions === 100 }
  },
  'titles: 100 of 10 MB, rows of a database': async (folder, size) => {
    const title = 'a title 漢 '.repeat(size(1e6))
    await withRows(folder, (put) => {
      for (let n = 0; n < 100; n += 1) {
        put('session', [`ses_${n}`, 'p', null, 's', `/home/${title}`, `${n} ${title}`, '1', AT, AT])
        put('message', [`msg_${n}`, `ses_${n}`, AT, AT, '{"role":"user"}'])
        put('part', [`prt_${n}`, `msg_${n}`, `ses_${n}`, AT, AT, '{"type":"text","text":"hello"}'])
      }
    })
    return { args: ['sync'], expect: ({ sessions }) => sessions === 100 }
  },
  'sessions: 100,000 in as many folders': (folder, size) => {
    const count = size(100_000)
    for (let n = 0; n < count; n += 1)
      fs.writeFileSync(
        fileIn(folder, `claude/projects/-p${n % 100}/${sessionId(n)}.jsonl`),
        claudeRecord(sessionId(n), 0).replace('/home/me/project', `/home/me/${n}`),
      )
    return { args: ['sync'], expect: ({ sessions }) => sessions === count, asked: ASKED }
  },
  'sessions: one that 20,000 logs are of': (folder, size) => {
    const count = size(20_000)
    for (let n = 0; n < count; n += 1)
      fs.writeFileSync(
        fileIn(folder, `claude/projects/-p${n}/${sessionId(1)}.jsonl`),
        claudeRecord(sessionId(1), 1).replaceAll('_1"', `_${n}"`),
      )
    return { args: ['sync'], expect: ({ sessions }) => sessions === 1, asked: ASKED }
  },
  'sessions: 1,500 copies of a log of 250 calls': (folder, size) => {
    const log = Array.from({ length: 500 }, (_, n) => claudeRecord(sessionId(1), n, 'x')).join('')
    for (let n = 0; n < size(1500); n += 1)
      fs.writeFileSync(fileIn(folder, `claude/projects/-p${n}/${sessionId(1)}.jsonl`), log)
    return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
  },
  'sessions: one of a million entries': (folder, size) => ({
    ...log(folder, size(1e6), (n) => claudeRecord(sessionId(1), n, 'x')),
    asked: ASKED,
  }),
  "rows: 16 parts of 30 MB with an emoji in OpenCode's database, a message each": (folder, size) =>
    largeParts(folder, size(30e6), (n) => `msg_${n}`),
  "rows: 16 parts of 30 MB with an emoji in OpenCode's database, all of one message": (folder, size) =>
    largeParts(folder, size(30e6), () => 'msg_0'),
  "rows: 16 messages of 30 MB with an emoji in Cursor's database": async (folder, size) => {
    const path = fileIn(folder, 'work/.config/Cursor/User/globalStorage/state.vscdb')
    const database = await openDatabase(path)
    database.exec(`CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
      CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)`)
    const insert = database.prepare('INSERT INTO cursorDiskKV VALUES (?, ?)')
    const text = emojiText(size(30e6))
    const headers = Array.from({ length: 16 }, (_, n) => ({ bubbleId: `b${n}` }))
    const chat = { composerId: 'c1', name: 'long', createdAt: AT, fullConversationHeadersOnly: headers }
    insert.run('composerData:c1', JSON.stringify(chat))
    for (let n = 0; n < 16; n += 1)
      insert.run(`bubbleId:c1:b${n}`, JSON.stringify({ type: 1, bubbleId: `b${n}`, text, createdAt: AT }))
    database.close()
    return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
  },
  'aider: a history of 2 GB': (folder, size) => {
    const path = fileIn(folder, 'work/.aider.chat.history.md')
    writePieces(path, size(2e9), (n) =>
      n % 1000 === 0
        ? '\n# aider chat started at 2026-02-10 23:31:05\n\n> Aider v0.86.0\n> Main model: claude with diff edit format\n\n'
        : `#### question ${n}\n\nan answer ${'that goes on '.repeat(80)}\n\n> Tokens: 1.2k sent, 300 received. Cost: $0.01 message, $0.02 session.\n\n`,
    )
    return { args: ['sync'], expect: ({ sessions }) => sessions > 0 }
  },
  'aider: an answer of lines of one letter, 200 MB': (folder, size) => {
    const path = fileIn(folder, 'work/.aider.chat.history.md')
    const some = 'a\n'.repeat(10_000)
    writePieces(path, size(2e8), (n) => (n === 0 ? '# aider chat started at 2026-02-10 23:31:05\n\n' : some))
    return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
  },
  'links: 100,000 to one log': (folder, size) => {
    fs.writeFileSync(fileIn(folder, LOG), claudeRecord(sessionId(1), 0))
    const count = size(100_000)
    for (let n = 0; n < count; n += 1)
      fs.symlinkSync(`${sessionId(1)}.jsonl`, join(folder, `claude/projects/-p/link-${n}.jsonl`))
    for (let n = 0; n < count; n += 1)
      fs.symlinkSync(`/nowhere/${n}`, join(folder, `claude/projects/-p/out-${n}.jsonl`))
    return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
  },
  'folders: 1,800 deep': (folder, size) => {
    const deep = 'a/'.repeat(size(1800))
    fs.writeFileSync(fileIn(folder, `in/${deep}log.jsonl`), claudeRecord(sessionId(1), 0))
    fs.writeFileSync(fileIn(folder, 'in/log.jsonl'), claudeRecord(sessionId(2), 0))
    return { args: ['sync', join(folder, 'in')], expect: ({ sessions }) => sessions >= 1 }
  },
  'zip: a log of 2 GB of records': (folder, size) => {
    const log = join(folder, 'log')
    writePieces(log, size(2e9), (n) => claudeRecord(sessionId(1), n))
    writeStoredZip(fileIn(folder, 'in/logs.zip'), [[`projects/-p/${sessionId(1)}.jsonl`, log]])
    fs.rmSync(log)
    return { args: ['import', join(folder, 'in/logs.zip')], expect: ({ sessions }) => sessions === 1 }
  },
  'zip: 100,000 logs': (folder, size) => {
    const count = size(100_000)
    writeStoredZip(
      fileIn(folder, 'in/logs.zip'),
      Array.from({ length: count }, (_, n) => [
        `projects/-p${n % 100}/${sessionId(n)}.jsonl`,
        Buffer.from(claudeRecord(sessionId(n), 0)),
      ]),
    )
    return { args: ['import', join(folder, 'in/logs.zip')], expect: ({ sessions }) => sessions === count }
  },
  'zip: in a zip': (folder, size) => {
    const inner = join(folder, 'inner')
    const log = join(folder, 'log')
    writePieces(log, size(5e8), (n) => claudeRecord(sessionId(1), n))
    writeStoredZip(inner, [[`projects/-p/${sessionId(1)}.jsonl`, log]])
    writeStoredZip(fileIn(folder, 'in/logs.zip'), [['inner.zip', inner]])
    fs.rmSync(inner)
    fs.rmSync(log)
    return { args: ['import', join(folder, 'in/logs.zip')], expect: anything }
  },
  'gzip: 1 GB of records, imported': async (folder, size) => {
    await writeGzip(fileIn(folder, 'in/records.jsonl.gz'), size(1e9), many, 1)
    return { args: ['import', join(folder, 'in/records.jsonl.gz')], expect: ({ sessions }) => sessions === 1 }
  },
  'gzip: 1 GB of records, from standard input': async (folder, size) => {
    const path = fileIn(folder, 'in/records.jsonl.gz')
    await writeGzip(path, size(1e9), many, 1)
    return { args: ['import', '-'], stdin: path, expect: ({ sessions }) => sessions === 1 }
  },
  'log: 1 GB of records, from standard input': (folder, size) => {
    const path = fileIn(folder, 'in/records.jsonl')
    writePieces(path, size(1e9), (n) => claudeRecord(sessionId(1), n))
    return { args: ['import', '-'], stdin: path, expect: ({ sessions }) => sessions === 1 }
  },
  'gzip: a document of 1 GB of devflow': async (folder, size) => {
    const kind = DOCUMENTS['devflow']
    if (kind === undefined) throw new Error('no such document')
    const plain = join(folder, 'transcript.json')
    writeDocument(plain, kind, size(1e9), 'whole')
    await packed(plain, fileIn(folder, 'in/transcript.json.gz'))
    return {
      args: ['import', join(folder, 'in/transcript.json.gz')],
      expect: ({ sessions }) => sessions === 1,
    }
  },
  'database: 10,000 tables': async (folder, size) => {
    await withRows(folder, (put, database) => {
      for (let n = 0; n < size(10_000); n += 1) database.exec(`CREATE TABLE more_${n} (id TEXT, data TEXT)`)
      put('session', ['ses_1', 'p', null, 's', '/home/me', 'one', '1', AT, AT])
      put('message', ['msg_1', 'ses_1', AT, AT, '{"role":"user"}'])
    })
    return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
  },
  'settings: 100 MB': (folder, size) => {
    const settings = `{"exclude":["${'x'.repeat(size(1e8))}"]}`
    fs.writeFileSync(fileIn(folder, 'work/hansard.config.json'), settings)
    fs.writeFileSync(fileIn(folder, 'claude/settings.json'), settings)
    fs.writeFileSync(fileIn(folder, LOG), claudeRecord(sessionId(1), 0))
    return { args: ['sync'], mayFail: true, expect: anything }
  },
}

function manyTools(n: number, length: number): string {
  const tools = Array.from(
    { length: 50 },
    (_, at) =>
      `{"type":"tool_use","id":"t-${n}-${at}","name":"${n}-${at}-${'n'.repeat(length)}","input":{}},`,
  )
  return claudeRecord(sessionId(1), 2 * n + 1, 'x').replace('"content":[', `"content":[${tools.join('')}`)
}

const ASKED = [
  ['list'],
  ['list', '--json'],
  ['list', '--runs'],
  ['doctor'],
  ['doctor', '--json'],
  ['sync', '--no-index'],
]
const AT = 1_770_000_000_000

/** A log of Claude Code's that begins as one, and goes on with nothing but this. */
function lines(kinds: Readonly<Record<string, string>>): Readonly<Record<string, Make>> {
  const cases: Record<string, Make> = {}
  for (const [name, piece] of Object.entries(kinds)) {
    const some = piece.repeat(10_000)
    cases[`junk: 1 GB of ${name}, in a log`] = (folder, size) => {
      writePieces(fileIn(folder, LOG), size(1e9), (n) => (n === 0 ? claudeRecord(sessionId(1), 0) : some))
      return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
    }
    cases[`junk: 1 GB of ${name}, and nothing else`] = (folder, size) => {
      writePieces(fileIn(folder, 'in/what.jsonl'), size(1e9), () => some)
      return { args: ['import', join(folder, 'in/what.jsonl')], expect: anything }
    }
  }
  return cases
}

function log(folder: string, count: number, line: (n: number) => string): Case {
  const file = fs.openSync(fileIn(folder, LOG), 'w')
  for (let n = 0; n < count; n += 1) fs.writeSync(file, line(n))
  fs.closeSync(file)
  return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
}

const many = (n: number): Buffer =>
  Buffer.from(Array.from({ length: 1000 }, (_, at) => claudeRecord(sessionId(1), n * 1000 + at)).join(''))

function emojiText(length: number): string {
  const half = 'all that was said before '.repeat(length / 50)
  return `${half}😀${half}`
}

type Put = (table: string, values: readonly (string | number | null)[]) => void

async function withRows(
  folder: string,
  fill: (put: Put, database: Awaited<ReturnType<typeof openDatabase>>) => void,
): Promise<void> {
  const database = await openDatabase(fileIn(folder, 'work/.local/share/opencode/opencode.db'))
  database.exec(SCHEMA)
  fill((table, values) => {
    database.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(...values)
  }, database)
  database.close()
}

async function largeParts(folder: string, length: number, messageOf: (n: number) => string): Promise<Case> {
  const data = JSON.stringify({ type: 'text', text: emojiText(length) })
  await withRows(folder, (put) => {
    put('session', ['ses_1', 'p', null, 's', '/home/me', 'long', '1', AT, AT])
    for (const id of new Set(Array.from({ length: 16 }, (_, n) => messageOf(n))))
      put('message', [id, 'ses_1', AT, AT, '{"role":"user"}'])
    for (let n = 0; n < 16; n += 1) put('part', [`prt_${n}`, messageOf(n), 'ses_1', AT, AT, data])
  })
  return { args: ['sync'], expect: ({ sessions }) => sessions === 1 }
}

async function packed(plain: string, path: string): Promise<void> {
  const file = fs.openSync(plain, 'r')
  const size = fs.fstatSync(file).size
  await writeGzip(
    path,
    size,
    (n) => {
      const piece = Buffer.alloc(Math.min(1e6, size - n * 1e6))
      fs.readSync(file, piece, 0, piece.length, n * 1e6)
      return piece
    },
    1,
  )
  fs.closeSync(file)
  fs.rmSync(plain)
}

function fileIn(folder: string, path: string): string {
  const at = join(folder, path)
  fs.mkdirSync(dirname(at), { recursive: true })
  return at
}
