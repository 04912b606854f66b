/**
 * Which files make one session of Claude Code: its own log, those of its subagents in any of the three places they were ever put, and
 * what tools returned that was too long for a line. A subagent's log says inside whose it is where its place does not.
 */
import { isSafeId, isUuid } from '../transcript/ids.ts'
import { asString } from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import type { Place } from './format.ts'
import { readHead } from './head-records.ts'

export type Group = {
  readonly main: SourceFile
  readonly agents: AgentFiles[]
  /** `<sessionId>/tool-results/…` */
  readonly results: SourceFile[]
}

export type AgentFiles = { readonly log: SourceFile; readonly meta: SourceFile | undefined }

const FILES = ['**/*.jsonl', '**/subagents/**/*.meta.json', '**/tool-results/*']

export const PLACES: readonly Place[] = [
  { folders: ['${CLAUDE_CONFIG_DIR:-~/.claude}/projects', '~/.config/claude/projects'], files: FILES },
  {
    folders: ['~/Library/Application Support/Claude/local-agent-mode-sessions'],
    files: FILES.map((glob) => `**/projects/${glob}`),
  },
]

/** The log of the session that a file is read together with. */
export async function unitOf(file: SourceFile): Promise<string> {
  const folders = file.path.split('/')
  const at = folders.findIndex(
    (name, index) => index < folders.length - 1 && isSession(name, folders[index + 1]),
  )
  if (at !== -1) return `${folders.slice(0, at + 1).join('/')}.jsonl`
  if (agentOf(file.path) === undefined) return file.path
  const session = await sessionIn(file)
  if (session === undefined || !isSafeId(session)) return file.path
  return [...folders.slice(0, -1), `${session}.jsonl`].join('/')
}

/** Each session's own log with what belongs to it. A subagent's without a main log is a group of its own. */
export async function groupFiles(source: Source): Promise<Group[]> {
  const files = await source.list()
  if (source.kind === 'file') return files.map(toGroup)
  const logs = files.filter(({ path }) => path.endsWith('.jsonl') && !isResult(path))
  const groups = logs.filter((file) => agentOf(file.path) === undefined).map(toGroup)
  const bySession = new Map<string, Group>()
  for (const group of groups) {
    const name = stem(group.main.path)
    const key = isUuid(name) ? name : ((await sessionIn(group.main)) ?? name)
    if (!bySession.has(key)) bySession.set(key, group)
  }
  const byPath = new Map(files.map((file) => [file.path, file]))
  for (const log of logs.filter((file) => agentOf(file.path) !== undefined)) {
    const session = folderAbove(log.path, 'subagents') ?? (await sessionIn(log)) ?? log.path
    const group = bySession.get(session)
    const meta = byPath.get(log.path.replace(/\.jsonl$/, '.meta.json'))
    if (group !== undefined) group.agents.push({ log, meta })
    else {
      const alone = toGroup(log)
      bySession.set(session, alone)
      groups.push(alone)
    }
  }
  for (const file of files) {
    const session = folderAbove(file.path, RESULTS)
    if (session !== undefined) bySession.get(session)?.results.push(file)
  }
  return groups
}

/** The subagent that a log is named after. */
export function agentOf(path: string): string | undefined {
  const name = stem(path)
  return name.startsWith('agent-') && name.length > 6 ? name.slice(6) : undefined
}

export const stem = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.jsonl$/, '')

const RESULTS = 'tool-results'

const toGroup = (main: SourceFile): Group => ({ main, agents: [], results: [] })

const isResult = (path: string): boolean => folderAbove(path, RESULTS) !== undefined

const isSession = (name: string, below: string | undefined): boolean =>
  isUuid(name) || below === 'subagents' || below === RESULTS

/** `<sessionId>/subagents/agent-x.jsonl`, at any depth below. */
function folderAbove(path: string, folder: string): string | undefined {
  const folders = path.split('/').slice(0, -1)
  const at = folders.lastIndexOf(folder)
  return at > 0 ? folders[at - 1] : undefined
}

async function sessionIn(file: SourceFile): Promise<string | undefined> {
  const { records } = await readHead(file)
  return records.map((record) => asString(record['sessionId'])).find((sessionId) => sessionId !== undefined)
}
