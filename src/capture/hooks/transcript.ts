/**
 * What a hook named, as places to sync: the transcript, and those of its subagents, at any depth. Its input is hostile: a path counts
 * only where links lead to a regular file below a folder that the agent is known to write in, under a name that it is known to give.
 */
import fs from 'node:fs'
import { isAbsolute, relative, sep } from 'node:path'
import { messageOf, systemCode } from '../../errors.ts'
import { PLACED } from '../../formats/places.ts'
import { escapeGlob, parseGlobs } from '../../sources/globs.ts'
import { findPlaces, isFlat, isInside, type FoundPlace } from '../../sources/places.ts'
import { walk } from '../../sources/walk.ts'
import { isSafeId } from '../../transcript/ids.ts'
import type { Ticket } from './queue.ts'

export type Asked = { readonly places: readonly FoundPlace[]; readonly problems: readonly string[] }

export type AskedOptions = {
  readonly env: NodeJS.ProcessEnv
  /** The user's folder. */
  readonly home: string
  readonly platform: NodeJS.Platform
  readonly now: Date
}

/** Files that are not there yet are no problem: an agent tells of a session before it writes its first line. */
export function toPlaces(ticket: Ticket, options: AskedOptions): Asked {
  const problems: string[] = []
  const related = RELATED.get(ticket.agent)
  if (related === undefined) return { places: [], problems: ['no agent of this name has hooks'] }
  const env = { ...options.env, ...ticket.env }
  const placed = PLACED.filter(({ id }) => id === ticket.agent)
  const places = findPlaces(placed, { env, home: options.home, platform: options.platform, folders: [] })
  const session = toSession(ticket.session, problems)
  const wanted = new Map<FoundPlace, Set<string>>()
  const want = (place: FoundPlace, globs: readonly string[]): void => {
    const files = wanted.get(place) ?? new Set()
    for (const glob of globs) files.add(glob)
    wanted.set(place, files)
  }
  let isFound = false
  for (const path of [ticket.transcript, ticket.agentTranscript]) {
    const file = path === undefined ? undefined : findFile(path, places, problems)
    if (file === undefined) continue
    isFound = true
    want(file.place, [escapeGlob(file.below), ...related.byPath(file.below, { session, now: options.now })])
  }
  if (!isFound && session !== undefined) {
    for (const place of places.filter((one) => !isFlat(one))) {
      for (const { path: below } of walk(place.root, { files: related.byId(escapeGlob(session), session) })) {
        if (!parseGlobs(place.files).matches(below)) continue
        want(place, [escapeGlob(below), ...related.byPath(below, { session, now: options.now })])
      }
    }
  }
  if (wanted.size > 0) for (const place of places.filter(isFlat)) want(place, place.files)
  return {
    places: [...wanted].map(([place, globs]) => ({ ...place, files: within(place, globs) })),
    problems,
  }
}

type Known = { readonly session: string | undefined; readonly now: Date }

/** Globs of what belongs to a session, from the path of one of its files, or from its id alone. */
type Related = {
  byPath(below: string, known: Known): readonly string[]
  byId(escaped: string, id: string): readonly string[]
}

const RELATED: ReadonlyMap<string, Related> = new Map<string, Related>([
  ['claude-code', { byPath: ofClaude, byId: (id) => [`**/${id}.jsonl`, `**/${id}/**/*.jsonl`] }],
  ['codex', { byPath: ofCodex, byId: (id) => [`**/*${id}*`] }],
  [
    'gemini-cli',
    {
      byPath: ofGemini,
      byId: (id, plain) => [`*/chats/session-*-${escapeGlob(plain.slice(0, 8))}.*`, `*/chats/${id}/**`],
    },
  ],
  [
    'copilot-cli',
    { byPath: ofCopilot, byId: (id) => [`${id}.jsonl`, `${id}/events.jsonl`, `${id}/workspace.yaml`] },
  ],
  [
    'cursor',
    {
      byPath: ofCursor,
      byId: (id) => [`*/agent-transcripts/${id}.*`, `*/agent-transcripts/${id}/**`, `*/${id}/store.db`],
    },
  ],
])

/** Subagents of subagents lie with the others: below a folder named after the session, or, before 2.1, beside it. */
function ofClaude(below: string): readonly string[] {
  const at = below.search(/\/[^/]+\/(?:subagents|tool-results)\//)
  const session = at === -1 ? below.replace(/\.jsonl$/, '') : below.slice(0, below.indexOf('/', at + 1))
  const folder = escapeGlob(session)
  const project = session.includes('/') ? `${escapeGlob(session.slice(0, session.lastIndexOf('/')))}/` : ''
  return [`${folder}.jsonl`, `${folder}/**`, `${project}agent-*.jsonl`]
}

/** A subagent has a rollout of its own, somewhere from the day on that its parent began. */
function ofCodex(below: string, { now }: Known): readonly string[] {
  const [, year, month, day] = /^(\d{4})\/(\d{2})\/(\d{2})\//.exec(below) ?? []
  if (year === undefined) return []
  const globs: string[] = []
  // Local dates: the last of them may be tomorrow's here.
  const end = now.getTime() + DAY_MS
  for (
    let at = Date.UTC(Number(year), Number(month) - 1, Number(day));
    at <= end && globs.length < MOST_DAYS;
    at += DAY_MS
  ) {
    globs.push(`${new Date(at).toISOString().slice(0, 10).replaceAll('-', '/')}/rollout-*`)
  }
  return globs
}

const DAY_MS = 86_400_000
/** A session that began longer ago has its subagents found by the next sync. */
const MOST_DAYS = 400

function ofGemini(below: string, { session }: Known): readonly string[] {
  const [project = ''] = below.split('/')
  const folder = escapeGlob(project)
  const parent = /^[^/]+\/chats\/([^/]+)\/[^/]+$/.exec(below)?.[1]
  const id = parent ?? session
  return [
    `${folder}/.project_root`,
    ...(id === undefined ? [] : [`${folder}/chats/${escapeGlob(id)}/**`]),
    ...(parent === undefined ? [] : [`${folder}/chats/session-*-${escapeGlob(parent.slice(0, 8))}.*`]),
  ]
}

function ofCopilot(below: string): readonly string[] {
  const [folder = '', name] = below.split('/')
  return name === undefined
    ? []
    : [`${escapeGlob(folder)}/events.jsonl`, `${escapeGlob(folder)}/workspace.yaml`]
}

function ofCursor(below: string): readonly string[] {
  const [, around, id] = /^(.*\/agent-transcripts)\/([^/]+?)(?:\/|\.[a-z]+$)/.exec(below) ?? []
  if (around === undefined || id === undefined) return []
  return [`${escapeGlob(around)}/${escapeGlob(id)}.*`, `${escapeGlob(around)}/${escapeGlob(id)}/**`]
}

/** Of what is asked for, only what the agent writes there. */
function within(place: FoundPlace, globs: ReadonlySet<string>): readonly string[] {
  const known = parseGlobs(place.files)
  const files = new Set<string>()
  for (const glob of globs) {
    // A folder with all below it: the agent's own patterns, from there on.
    const folder = /^(.+)\/\*\*$/.exec(glob)?.[1]
    if (folder === undefined) files.add(glob)
    else for (const narrow of known.narrow(unescape(folder))) files.add(narrow)
  }
  return [...files]
}

/** What `escapeGlob` made of a path that has no pattern in it. */
const unescape = (glob: string): string => glob.replaceAll(/\\(.)/g, '$1')

function toSession(session: string | undefined, problems: string[]): string | undefined {
  if (session === undefined) return undefined
  if (isSafeId(session) && /^[\w.-]{1,128}$/.test(session)) return session
  problems.push('the session’s id is none')
  return undefined
}

type FoundFile = { readonly place: FoundPlace; readonly below: string }

function findFile(path: string, places: readonly FoundPlace[], problems: string[]): FoundFile | undefined {
  if (!isAbsolute(path) || path.includes('\0')) {
    problems.push('the transcript’s path is not absolute')
    return undefined
  }
  let real: string
  try {
    real = fs.realpathSync(path)
    if (!fs.lstatSync(real).isFile()) {
      problems.push(`${path} is no regular file`)
      return undefined
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') problems.push(`${path}: ${messageOf(error)}`)
    return undefined
  }
  for (const place of places) {
    if (!isInside(place.root, real)) continue
    const below = relative(place.root, real).split(sep).join('/')
    if (parseGlobs(place.files).matches(below)) return { place, below }
  }
  problems.push(`${path} is not where this agent keeps its transcripts`)
  return undefined
}
