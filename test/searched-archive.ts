/** An archive with something of everything to search in, and the answers as reading all of it gives them. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { openKept } from '../src/archive/kept.ts'
import { record } from '../src/capture/record.ts'
import { createMatcher } from '../src/search/match.ts'
import { parseQuery } from '../src/search/query.ts'
import { sync } from '../src/sources/sync.ts'
import { citation } from '../src/transcript/entry.ts'
import type { JsonObject } from '../src/transcript/json.ts'
import { shownEntries } from './shown-entries.ts'

export type SearchedArchive = {
  readonly archive: Archive
  /** What `CLAUDE_CONFIG_DIR` names. */
  readonly config: string
  sync(): Promise<void>
}

export function createSearched(name: string): SearchedArchive {
  const folder = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), `${name}-`)))
  const config = join(folder, 'claude')
  fs.mkdirSync(join(config, 'projects'), { recursive: true })
  const archive = openArchive(join(folder, 'home'), { write: true })
  return {
    archive,
    config,
    async sync() {
      const env = { CLAUDE_CONFIG_DIR: config }
      const { problems } = await sync(archive, { env, userHome: join(folder, 'nobody'), cwd: folder })
      if (problems.length > 0) throw new Error(JSON.stringify(problems))
    },
  }
}

/** A session of Claude Code: each text is an answer, but for every third, which is what a tool returned. */
export function writeLog(config: string, number: number, texts: readonly string[]): string {
  const session = `${number.toString(16).padStart(8, '0')}-3333-4333-8333-333333333333`
  const folder = join(config, 'projects', `-p-${number % 3}`)
  fs.mkdirSync(folder, { recursive: true })
  const path = join(folder, `${session}.jsonl`)
  fs.writeFileSync(
    path,
    texts.map((text, at) => `${JSON.stringify(line(session, number, at, text))}\n`).join(''),
  )
  return path
}

export function line(session: string, number: number, at: number, text: string): JsonObject {
  const wrapper = {
    sessionId: session,
    uuid: `${session.slice(0, 8)}-${at}`,
    parentUuid: at === 0 ? null : `${session.slice(0, 8)}-${at - 1}`,
    timestamp: new Date(Date.UTC(2026, 2, 1 + (number % 20), 10, at % 60, Math.floor(at / 60))).toISOString(),
    cwd: `/p/${number % 3}`,
    gitBranch: number % 2 === 0 ? 'main' : 'other',
    version: '2.1.42',
    userType: 'external',
    isSidechain: false,
  }
  if (at % 3 === 0) return { ...wrapper, type: 'user', message: { role: 'user', content: text } }
  const isCall = at % 3 === 1
  const call = `toolu_${number}_${at - (isCall ? 0 : 1)}`
  if (!isCall) {
    const content = [{ type: 'tool_result', tool_use_id: call, content: text, is_error: at % 2 === 0 }]
    return { ...wrapper, type: 'user', message: { role: 'user', content } }
  }
  const input = { file_path: `/p/${number % 3}/src/${text.split(' ')[0]}.ts`, command: text }
  return {
    ...wrapper,
    type: 'assistant',
    requestId: `req_${number}_${at}`,
    message: {
      id: `msg_${number}_${at}`,
      role: 'assistant',
      model: number % 2 === 0 ? 'claude-opus-4-5' : 'claude-haiku-4-5',
      content: [
        { type: 'thinking', thinking: `considering ${text}`, signature: 's' },
        { type: 'tool_use', id: call, name: number % 2 === 0 ? 'Bash' : 'Read', input },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 5, output_tokens: 7 },
    },
  }
}

/** A session of our own, one text of it too large for its line. */
export async function recordSession(archive: Archive, texts: readonly string[]): Promise<void> {
  const recorder = await record({
    home: archive.home,
    cwd: archive.home,
    durability: 'os',
    title: 'titledneedle of it',
  })
  for (const text of texts) recorder.user(text)
  await recorder.end()
}

export async function packAll(archive: Archive): Promise<void> {
  for (const place of openKept(archive).places()) {
    for await (const path of place.paths()) await place.pack(path)
  }
}

/** Every entry that matches, by reading everything. Newest first, as far as times differ. */
export async function readAnswer(archive: Archive, query: string): Promise<string[]> {
  return (await readAnswers(archive, [query])).get(query) ?? []
}

/** The same for each of several, by reading everything once. */
export async function readAnswers(
  archive: Archive,
  queries: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const asked = queries.map((query) => ({
    query,
    matcher: createMatcher(parseQuery(query)),
    found: [] as string[],
  }))
  for await (const { session, entry } of shownEntries(archive.home))
    for (const { matcher, found } of asked)
      if (matcher.entry(entry, session) !== undefined) found.push(citation(session.id, entry))
  return new Map(asked.map(({ query, found }) => [query, found.sort()]))
}
