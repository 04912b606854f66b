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
  /** The others by their number in the list of files, for there may be a million. The logs of agents: */
  readonly agents: number[]
  /** What agents are whose logs are `main`, or gone. */
  readonly metas: number[]
  /** Logs below `<sessionId>/subagents` that are no agent's: a workflow's journal. */
  readonly journals: number[]
  /** `<sessionId>/tool-results/…` */
  readonly results: number[]
}

export type Grouped = { readonly files: readonly SourceFile[]; readonly groups: readonly Group[] }

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
): Promise<Grouped> {
  const files = await source.list()
  if (source.kind === 'file') return { files, groups: files.map((file) => toGroup(file)) }
  const isLog = (path: string): boolean => path.endsWith('.jsonl') && !isResult(path)
  const isJournal = (path: string): boolean => folderAbove(path, AGENTS) !== undefined
  const groups: Group[] = []
  for (const file of files) {
    const { path } = file
    const isMain = isLog(path) && agentOf(path) === undefined && !isJournal(path)
    if (isMain && (await isOwn(file))) groups.push(toGroup(file))
  }
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
  let at = -1
  for (const file of files) {
    at += 1
    const { path } = file
    if (!isLog(path) || agentOf(path) === undefined) continue
    const session = folderAbove(path, AGENTS) ?? (await sessionIn(file)) ?? path
    const group = bySession.get(session)
    if (group !== undefined) group.agents.push(at)
    else {
      const alone = toGroup(file)
      const meta = metaOf(files, at)
      if (meta !== undefined) alone.metas.push(meta)
      bySession.set(session, alone)
      groups.push(alone)
    }
  }
  at = -1
  for (const { path } of files) {
    at += 1
    const session = folderAbove(path, AGENTS)
    if (session === undefined || agentOf(path.replace(META, '.jsonl')) === undefined) {
      const owner = folderAbove(path, RESULTS)
      if (owner !== undefined) groupOf(owner, path).results.push(at)
      else if (session !== undefined && path.endsWith('.jsonl')) groupOf(session, path).journals.push(at)
    } else if (META.test(path) && indexOf(files, path.replace(META, '.jsonl'), at) === undefined)
      groupOf(session, path).metas.push(at)
  }
  return { files, groups }
}

/** What the agent is whose log has this number. */
export function metaOf(files: readonly SourceFile[], log: number): number | undefined {
  return indexOf(files, pathAt(files, log).replace(/\.jsonl$/, '.meta.json'), log)
}

/** The subagent that a log is named after. */
export function agentOf(path: string): string | undefined {
  const name = stem(path)
  return name.startsWith('agent-') && name.length > 6 ? name.slice(6) : undefined
}

export const stem = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.jsonl$/, '')

/** What a file of a session is by its place and name. `other`: of no agent, below a session's subagents, as a workflow's journal. */
export function kindOf(path: string): 'log' | 'agent' | 'meta' | 'result' | 'other' {
  if (isResult(path)) return 'result'
  const isBelowAgents = folderAbove(path, AGENTS) !== undefined
  if (isBelowAgents && META.test(path)) return 'meta'
  if (!path.endsWith('.jsonl')) return 'other'
  if (agentOf(path) !== undefined) return 'agent'
  return isBelowAgents ? 'other' : 'log'
}

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

const pathAt = (files: readonly SourceFile[], at: number): string => (files[at] as SourceFile).path

/** The number of a path, looked for from one that is near: files are sorted. */
function indexOf(files: readonly SourceFile[], path: string, near: number): number | undefined {
  const isBefore = (at: number): boolean => pathAt(files, at) < path
  let [low, high] = [near, near]
  for (let step = 1; low >= 0 && !isBefore(low); step *= 2) low -= step
  for (let step = 1; high < files.length && isBefore(high); step *= 2) high += step
  low = Math.max(low, -1)
  high = Math.min(high, files.length)
  // The one before all that it may be, and the first that is not before it.
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (isBefore(middle)) low = middle
    else high = middle
  }
  return high < files.length && pathAt(files, high) === path ? high : undefined
}

/** `<sessionId>/subagents/agent-x.jsonl`, at any depth below. */
function folderAbove(path: string, folder: string): string | undefined {
  const folders = path.split('/').slice(0, -1)
  const at = folders.lastIndexOf(folder)
  return at > 0 ? folders[at - 1] : undefined
}

/** The session that the first records of a log name. */
export async function sessionIn(file: SourceFile): Promise<string | undefined> {
  const { records } = await readFurther(file)
  return records.map((record) => asString(record['sessionId'])).find((sessionId) => sessionId !== undefined)
}
