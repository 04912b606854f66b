/**
 * Which files make one session of Claude Code: its own log, those of its subagents in any of the three places they were ever put, and
 * what tools returned that was too long for a line. A subagent's log says inside whose it is where its place does not.
 */
import { isSafeId, isUuid } from '../transcript/ids.ts'
import { asString } from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { readFurther } from './further-head.ts'

export type Group = {
  /** The session's own log, or that of an agent whose session has none; undefined where only what stands beside a log is left. */
  readonly main: SourceFile | undefined
  /** What the group is known by where its lines do not say: a path. */
  readonly path: string
  /** The session that the folder is named after. */
  readonly session: string | undefined
  readonly agents: AgentFiles[]
  /** What agents are whose logs are `main`, or gone. */
  readonly metas: SourceFile[]
  /** Logs below `<sessionId>/subagents` that are no agent's: a workflow's journal. */
  readonly journals: SourceFile[]
  /** `<sessionId>/tool-results/…` */
  readonly results: SourceFile[]
}

export type AgentFiles = { readonly log: SourceFile; readonly meta: SourceFile | undefined }

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

/**
 * Each session's own log with what belongs to it. A subagent's without a main log is a group of its own, and so is what is left
 * of a session whose log is gone. Of other logs that lie in the folder those count that `isOwn` says are ours.
 */
export async function groupFiles(
  source: Source,
  isOwn: (file: SourceFile) => Promise<boolean>,
): Promise<Group[]> {
  const files = await source.list()
  if (source.kind === 'file') return files.map((file) => toGroup(file))
  const logs = files.filter(({ path }) => path.endsWith('.jsonl') && !isResult(path))
  const isJournal = ({ path }: SourceFile): boolean => folderAbove(path, AGENTS) !== undefined
  const mains = logs.filter((file) => agentOf(file.path) === undefined && !isJournal(file))
  const groups: Group[] = []
  for (const main of mains) if (await isOwn(main)) groups.push(toGroup(main))
  const bySession = new Map<string, Group>()
  /** The group of a session, made where nothing else speaks for it. */
  const groupOf = (session: string, path: string): Group => {
    const known = bySession.get(session)
    if (known !== undefined) return known
    const group: Group = { ...toGroup(undefined, path), session }
    bySession.set(session, group)
    groups.push(group)
    return group
  }
  for (const group of groups) {
    const name = stem(group.path)
    const key = isUuid(name) || group.main === undefined ? name : ((await sessionIn(group.main)) ?? name)
    if (!bySession.has(key)) bySession.set(key, group)
  }
  const byPath = new Map(files.map((file) => [file.path, file]))
  for (const log of logs.filter((file) => agentOf(file.path) !== undefined)) {
    const session = folderAbove(log.path, AGENTS) ?? (await sessionIn(log)) ?? log.path
    const group = bySession.get(session)
    const meta = byPath.get(metaOf(log.path))
    if (group !== undefined) group.agents.push({ log, meta })
    else {
      const alone = toGroup(log)
      if (meta !== undefined) alone.metas.push(meta)
      bySession.set(session, alone)
      groups.push(alone)
    }
  }
  for (const file of files) {
    const { path } = file
    const session = folderAbove(path, AGENTS)
    if (session === undefined || agentOf(path.replace(META, '.jsonl')) === undefined) {
      const owner = folderAbove(path, RESULTS)
      if (owner !== undefined) groupOf(owner, path).results.push(file)
      else if (session !== undefined && path.endsWith('.jsonl')) groupOf(session, path).journals.push(file)
    } else if (META.test(path) && !byPath.has(path.replace(META, '.jsonl')))
      groupOf(session, path).metas.push(file)
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
const AGENTS = 'subagents'
const META = /\.meta\.json$/

const toGroup = (main: SourceFile | undefined, path = main?.path ?? ''): Group => ({
  main,
  path,
  session: undefined,
  agents: [],
  metas: [],
  journals: [],
  results: [],
})

const isResult = (path: string): boolean => folderAbove(path, RESULTS) !== undefined

const isSession = (name: string, below: string | undefined): boolean =>
  isUuid(name) || below === AGENTS || below === RESULTS

const metaOf = (log: string): string => log.replace(/\.jsonl$/, '.meta.json')

/** `<sessionId>/subagents/agent-x.jsonl`, at any depth below. */
function folderAbove(path: string, folder: string): string | undefined {
  const folders = path.split('/').slice(0, -1)
  const at = folders.lastIndexOf(folder)
  return at > 0 ? folders[at - 1] : undefined
}

async function sessionIn(file: SourceFile): Promise<string | undefined> {
  const { records } = await readFurther(file)
  return records.map((record) => asString(record['sessionId'])).find((sessionId) => sessionId !== undefined)
}
