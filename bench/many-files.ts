/**
 * Archives of very many files, or rows, of agents that lay a session out in many or have many sessions: each case makes its files below a
 * folder, and says what a sync has to find in them.
 */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { sessionId } from './claude-logs.ts'
import { claudeRecord, DOCUMENTS, type DocumentKind } from './huge-files.ts'
import type { Case, Make } from './huge.bench.ts'
import { changeEveryThousandth, writeSmallRows } from './opencode-sample.ts'

const synced = (sessions: number, entries: number): Case => ({
  args: ['sync'],
  expect: (report) => report.sessions === sessions && report.entries === entries && report.damage === 0,
})

/** The same, and nothing to do for a second time. */
const syncedOnce = (sessions: number, entries: number): Case => ({
  ...synced(sessions, entries),
  again: () => ({
    args: ['sync'],
    expect: ({ files, bytesRead, damage }) =>
      files.unchanged === files.seen && files.seen > 0 && bytesRead + damage === 0,
  }),
})

export const MANY: Readonly<Record<string, Make>> = {
  'many: a million logs in one folder': (folder, size) => {
    const count = size(1e6)
    fileIn(folder, 'claude/projects/-p/one')
    for (let n = 0; n < count; n += 1)
      fs.writeFileSync(
        join(folder, `claude/projects/-p/${sessionId(n)}.jsonl`),
        claudeRecord(sessionId(n), 0),
      )
    return syncedOnce(count, count)
  },
  'many: a million subagents of one session': (folder, size) => {
    const count = writeSubagents(folder, size(1e6), (n) => `look at ${n}`)
    return syncedOnce(1, count + 1)
  },
  'many: 100,000 subagents of one session': (folder, size) => {
    const count = writeSubagents(folder, size(100_000), (n) => `look at ${n}`)
    return synced(1, count + 1)
  },
  'many: 100,000 subagents that were told the same, each by a call': (folder, size) => {
    const count = writeSubagents(folder, size(100_000), () => 'look at it')
    const path = join(folder, `claude/projects/-p/${sessionId(1)}.jsonl`)
    const file = fs.openSync(path, 'a')
    for (let n = 0; n < count; n += 1) fs.writeSync(file, call(n))
    fs.closeSync(file)
    return synced(1, 2 * count + 1)
  },
  'many: 100,000 files that are rewritten': (folder, size) => {
    const count = size(100_000)
    const write = (round: string): void => {
      for (let n = 0; n < count; n += 1) {
        const path = fileIn(folder, `claude/projects/-p/${sessionId(n)}.jsonl`)
        fs.writeFileSync(path, claudeRecord(sessionId(n), 0).replace('"u0"', `"${round}-${n}"`))
      }
    }
    write('one')
    const again = (): Case => {
      write('two')
      return synced(count, 2 * count)
    }
    return { ...synced(count, count), again }
  },
  "many: OpenCode's tree of 100,001 files": (folder, size) => {
    const root = 'work/.local/share/opencode/storage'
    const time = `"time":{"created":1770000000000}`
    fs.writeFileSync(
      fileIn(folder, `${root}/session/p/ses_1.json`),
      `{"id":"ses_1","title":"t","version":"1.0.0","directory":"/x",${time}}`,
    )
    const count = size(50_000)
    for (let n = 0; n < count; n += 1) {
      const id = `msg_${String(n).padStart(8, '0')}`
      const message = `{"id":"${id}","sessionID":"ses_1","role":"user",${time}}`
      const part = `{"id":"prt_${n}","messageID":"${id}","sessionID":"ses_1","type":"text","text":"hello ${n}"}`
      fs.writeFileSync(fileIn(folder, `${root}/message/ses_1/${id}.json`), message)
      fs.writeFileSync(fileIn(folder, `${root}/part/${id}/prt_${n}.json`), part)
    }
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions === 1 && damage === 0 }
  },
  "many: Cursor's 100,000 transcripts": (folder, size) => {
    const count = size(100_000)
    for (let n = 0; n < count; n += 1) {
      const id = sessionId(n)
      const path = `work/.cursor/projects/p${n % 100}/agent-transcripts/${id}/${id}.jsonl`
      fs.writeFileSync(fileIn(folder, path), cursorLine('user', `hello ${n}`))
    }
    return synced(count, count)
  },
  "many: Cursor's 100,000 subagents of one transcript": (folder, size) => {
    const count = size(100_000)
    const above = `work/.cursor/projects/p/agent-transcripts/${sessionId(0)}`
    fs.writeFileSync(fileIn(folder, `${above}/${sessionId(0)}.jsonl`), cursorLine('user', 'begin'))
    for (let n = 1; n <= count; n += 1)
      fs.writeFileSync(
        fileIn(folder, `${above}/subagents/${sessionId(n)}.jsonl`),
        cursorLine('user', 'look at it'),
      )
    return synced(count + 1, count + 1)
  },
  "many: Cline's 50,000 tasks of two files": (folder, size) => {
    const count = size(50_000)
    for (let n = 0; n < count; n += 1) {
      const task = `work/.cline/data/tasks/${1_770_000_000_000 + n}`
      const at = 1_770_000_000_000 + n
      const sent = `[{"role":"user","content":[{"type":"text","text":"<task>\\nhello ${n}\\n</task>"}],"ts":${at}}]`
      const shown = `[{"ts":${at},"type":"say","say":"text","text":"hello ${n}","conversationHistoryIndex":-1}]`
      fs.writeFileSync(fileIn(folder, `${task}/api_conversation_history.json`), sent)
      fs.writeFileSync(fileIn(folder, `${task}/ui_messages.json`), shown)
    }
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions === count && damage === 0 }
  },
  "many: Entire's 50,000 folders of two files": (folder, size) => {
    const count = size(50_000)
    for (let n = 0; n < count; n += 1) {
      const session = `work/.entire/metadata/2026-02-10-${sessionId(n)}`
      fs.writeFileSync(fileIn(folder, `${session}/full.jsonl`), claudeRecord(sessionId(n), 0))
      fs.writeFileSync(fileIn(folder, `${session}/prompt.txt`), `hello ${n}`)
    }
    return synced(count, count)
  },
  "many: Entire's 50,000 checkpoints of 5,000 sessions on a branch": (folder, size) => {
    const count = size(50_000)
    importCommits(folder, function* () {
      yield commitOn('refs/heads/entire/checkpoints/v1')
      for (let n = 0; n < count; n += 1) yield* checkpoint(n, Math.floor(n / 10), below(checkpointId(n)))
    })
    return {
      args: ['sync'],
      expect: ({ sessions, damage }) => sessions === Math.ceil(count / 10) && damage === 0,
    }
  },
  "many: Entire's 50,000 checkpoints of one session, a ref each": (folder, size) => {
    const count = size(50_000)
    importCommits(folder, function* () {
      for (let n = 0; n < count; n += 1) {
        yield commitOn(`refs/entire/checkpoints/${below(checkpointId(n))}`)
        yield* checkpoint(n, 0, '')
      }
    })
    return { args: ['sync'], expect: ({ sessions, damage }) => sessions === 1 && damage === 0 }
  },
  "many: OpenCode's database of 10 million small rows": async (folder, size) => {
    const path = fileIn(folder, 'work/.local/share/opencode/opencode.db')
    const count = await writeSmallRows(path, size(10e6))
    const whole: Case = {
      args: ['sync'],
      expect: ({ sessions, damage }) => sessions === count && damage === 0,
    }
    const again = async (): Promise<Case> => {
      await changeEveryThousandth(path)
      return whole
    }
    return { ...whole, again }
  },
  ...largeMessages(),
}

/** Documents of a few messages of 30 MB, each with a character that takes two units: all of it takes two bytes a letter then. */
function largeMessages(): Readonly<Record<string, Make>> {
  const cases: Record<string, Make> = {}
  for (const [format, kind] of Object.entries(DOCUMENTS)) {
    for (const isCut of [false, true])
      cases[`messages: ${format}, 4 of 30 MB in 4 files, with an emoji${isCut ? ', cut off' : ''}`] = (
        folder,
        size,
      ) => {
        for (let n = 0; n < 4; n += 1) {
          const path = fileIn(folder, `in/${n}/${kind.path}`)
          writeLarge(path, kind, n, size(30e6))
          if (isCut) fs.truncateSync(path, fs.statSync(path).size - kind.end.length - 10)
        }
        return { args: ['sync', join(folder, 'in')], expect: ({ damage }) => damage > 0 === isCut }
      }
  }
  return cases
}

function writeLarge(path: string, kind: DocumentKind, document: number, size: number): void {
  const half = 'all that was said before '.repeat(size / 50)
  const text = JSON.stringify(`${half}😀${half}`)
  // Each is another session.
  const begin = kind.begin.replace(/000000000001|ses_1|flow-1|abcde/, (id) => id.slice(0, -1) + document)
  fs.writeFileSync(path, begin)
  for (let n = 0; n < 4; n += 1) {
    const element = kind
      .element(2 * n + 1)
      .replace(
        /"(?:text|content)":"(?:[^"\\]|\\.)*"/,
        (found) => `${found.slice(0, found.indexOf(':') + 1)}${text}`,
      )
    fs.appendFileSync(path, (n === 0 ? '' : ',\n') + element)
  }
  fs.appendFileSync(path, kind.end)
}

function writeSubagents(folder: string, count: number, prompt: (n: number) => string): number {
  const main = claudeRecord(sessionId(1), 0)
  fs.writeFileSync(fileIn(folder, `claude/projects/-p/${sessionId(1)}.jsonl`), main)
  for (let n = 0; n < count; n += 1) {
    const agent = n.toString(16).padStart(8, '0')
    const record = main
      .replace('"isSidechain":false', `"isSidechain":true,"agentId":"${agent}"`)
      .replace('"u0"', `"v${n}"`)
      .replace(/"content":"(?:[^"\\]|\\.)*"/, `"content":"${prompt(n)}"`)
    const path = `claude/projects/-p/${sessionId(1)}/subagents/agent-${agent}.jsonl`
    fs.writeFileSync(fileIn(folder, path), record)
  }
  return count
}

function call(n: number): string {
  const block = `[{"type":"tool_use","id":"toolu_${n}","name":"Task","input":{"prompt":"look at it"}}]`
  return claudeRecord(sessionId(1), 2 * n + 1).replace(
    /"content":\[.*?\],"stop_reason"/,
    `"content":${block},"stop_reason"`,
  )
}

function cursorLine(role: string, text: string): string {
  return `{"role":"${role}","message":{"content":[{"type":"text","text":"${text}"}]}}\n`
}

const checkpointId = (n: number): string => (n * 2_654_435_761).toString(16).padStart(12, '0').slice(-12)
const below = (id: string): string => `${id.slice(0, 2)}/${id.slice(2)}`

function commitOn(ref: string): string {
  return `commit ${ref}\ncommitter a <a@b.c> 1770000000 +0000\ndata 0\n\n`
}

/** Of a session's transcript, one line more each time. */
function* checkpoint(n: number, session: number, at: string): Generator<string> {
  const id = sessionId(session)
  const meta = `{"session_id":"${id}","checkpoint_id":"${checkpointId(n)}","agent":"Claude Code","created_at":"${new Date(1_770_000_000_000 + n * 1000).toISOString()}","cli_version":"0.5.0","strategy":"manual-commit"}`
  const full = Array.from({ length: (n % 10) + 1 }, (_, line) => claudeRecord(id, line)).join('')
  const folder = at === '' ? '' : `${at}/`
  yield file(`${folder}metadata.json`, meta)
  yield file(`${folder}0/metadata.json`, meta)
  yield file(`${folder}0/full.jsonl`, full)
}

const file = (path: string, content: string): string =>
  `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n${content}\n`

/** What git reads is written to a file first: it may be larger than this program should be. */
function importCommits(folder: string, parts: () => Generator<string>): void {
  const work = join(folder, 'work')
  execFileSync('git', ['init', '-q', '-b', 'main', work])
  const stream = join(folder, 'commits')
  const written = fs.openSync(stream, 'w')
  for (const part of parts()) fs.writeSync(written, part)
  fs.closeSync(written)
  const read = fs.openSync(stream, 'r')
  execFileSync('git', ['-C', work, 'fast-import', '--quiet'], { stdio: [read, 'ignore', 'inherit'] })
  fs.closeSync(read)
  execFileSync('git', ['-C', work, 'pack-refs', '--all'])
  fs.rmSync(stream)
}

function fileIn(folder: string, path: string): string {
  const at = join(folder, path)
  fs.mkdirSync(dirname(at), { recursive: true })
  return at
}
