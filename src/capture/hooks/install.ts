/**
 * Hooks put into agents' settings and taken out again: first what would change, then, when somebody has agreed, the change. Doing it
 * twice changes nothing. Taking out gives back every byte, as far as nobody else has changed the file.
 */
import fs from 'node:fs'
import {
  areOurs,
  type Agent,
  type AgentFolders,
  type HookCommand,
  type JsonTarget,
  type Scope,
  type TomlTarget,
} from './agents.ts'
import type { HookAgent } from './entry.ts'
import { hashOf, noteInstalled, readInstalled, withoutInstalled, type Installed } from './installed.ts'
import { cutFrom, insertInto, type Insertion } from './json-edit.ts'
import { addHooks, commandsIn, hookedEvents, removeHooks, unreadable } from './json-hooks.ts'
import { readSettingsFile, writeSettingsFile, type SettingsFile } from './settings-file.ts'
import { outlineToml, tomlList, type TomlOutline } from './toml-lines.ts'

export type Change = {
  readonly file: SettingsFile
  /** Undefined: the file goes. */
  readonly after: string | undefined
  readonly insertions?: readonly Insertion[]
}

export type Plan = {
  readonly agent: Agent
  /** None where all is as it should be. */
  readonly changes: readonly Change[]
  readonly notes: readonly string[]
}

export type PlanOptions = {
  readonly scope: Scope
  readonly folders: AgentFolders
  /** The archive's folder, where it is noted what was put in. */
  readonly archive: string
}

/** Throws for settings that cannot be read; nothing is changed then, in any file. What calls us by another name is replaced. */
export function planInstall(agent: Agent, command: HookCommand, options: PlanOptions): Plan {
  const noted = readInstalled(options.archive)
  const changes: Change[] = []
  const notes: string[] = []
  let hasInlineHooks = false
  for (const target of agent.targets) {
    const path = target.file(options.scope, options.folders)
    if (path === undefined) continue
    const file = readSettingsFile(path)
    const isStale = file.text !== undefined && !callsBy(file, target, { agent: agent.id, command })
    const before = isStale ? (withoutUs(file, target, agent.id, noted) ?? '') : (file.text ?? '')
    if (target.kind === 'toml') {
      const outline = outlineOf(path, before)
      hasInlineHooks = outline.tables.some((name) => /^hooks(?:\.|$)/.test(name))
      const added = addKey(before, outline, target, { agent: agent.id, command })
      if (added === 'taken') notes.push(`${path} has a ${target.key} of its own, which is left as it is`)
      else if (added !== undefined) changes.push({ file, ...added })
    } else if (hasInlineHooks && hookedEvents(before, target, agent.id, path).length === 0) {
      notes.push(`${agent.title}’s hooks stand in its config.toml: none are added in ${path} beside them`)
    } else {
      const { text, insertions } = addHooks(before, target, { agent: agent.id, command, file: path })
      if (insertions.length > 0) changes.push({ file, after: text, insertions })
    }
  }
  if (changes.length > 0 && agent.note !== undefined) notes.push(agent.note)
  return { agent, changes, notes }
}

export function planUninstall(agent: Agent, options: PlanOptions): Plan {
  const noted = readInstalled(options.archive)
  const changes = agent.targets.flatMap((target): readonly Change[] => {
    const path = target.file(options.scope, options.folders)
    if (path === undefined) return []
    const file = readSettingsFile(path)
    if (file.text === undefined) return []
    const after = withoutUs(file, target, agent.id, noted)
    return after === file.text ? [] : [{ file, after }]
  })
  return { agent, changes, notes: [] }
}

type Target = JsonTarget | TomlTarget

/** The settings as they were before us, to the byte where that is known; undefined where there were none. */
function withoutUs(
  { path, real, text = '' }: SettingsFile,
  target: Target,
  agent: HookAgent,
  noted: ReadonlyMap<string, Installed>,
): string | undefined {
  const found =
    target.kind === 'toml'
      ? removeKey(text, outlineOf(path, text), target, agent)
      : removeHooks(text, target, { agent, file: path })
  if (found === text) return text
  const note = noted.get(real)
  const exact = note?.agent === agent ? withoutInstalled(text, note) : undefined
  if (note?.isCreated === true && exact?.trim() === '') return undefined
  const isSound = exact !== undefined && saysTheSame(exact, found, target, { agent, file: path })
  return isSound ? exact : found
}

/** True where all that calls us does so with this command; also where nothing does. */
function callsBy({ path, text = '' }: SettingsFile, target: Target, { agent, command }: Ours): boolean {
  if (target.kind === 'json')
    return commandsIn(text, target, agent, path).every((line) => line === command.line)
  const there = outlineOf(path, text).keys.find(({ key }) => key === target.key)
  const words = there && wordsOf(text, there)
  return !areOurs(words, agent) || JSON.stringify(words) === JSON.stringify(command.words)
}

/** Carries out a plan, one file after the other. */
export function carryOut({ agent, changes }: Plan, { archive }: PlanOptions): void {
  const leftOver: string[] = []
  for (const { file, after, insertions } of changes) {
    const before = readInstalled(archive).get(file.real)
    const made = writeSettingsFile(file, after)
    if (after === undefined) leftOver.push(...(before?.folders ?? []))
    const isCreated = file.text === undefined || before?.isCreated === true
    const folders = [...made, ...(before?.folders ?? [])]
    note(
      archive,
      file.real,
      insertions && after !== undefined
        ? { agent: agent.id, hash: hashOf(after), isCreated, folders, insertions }
        : undefined,
    )
  }
  for (const folder of leftOver.sort((a, b) => b.length - a.length)) removeEmpty(folder)
}

/** Without a note the hooks are found all the same: an archive that cannot be written stops nobody. */
function note(archive: string, file: string, installed: Installed | undefined): void {
  try {
    noteInstalled(archive, file, installed)
  } catch {
    // Said by doctor, which looks at the archive itself.
  }
}

function removeEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder)
  } catch {
    // Somebody else has put something there.
  }
}

function outlineOf(path: string, text: string): TomlOutline {
  const outline = outlineToml(text)
  if ('problem' in outline) throw unreadable(path, `line ${outline.line} has ${outline.problem}`)
  return outline
}

type Ours = { readonly agent: HookAgent; readonly command: HookCommand }

function addKey(
  text: string,
  { keys, place }: TomlOutline,
  { key }: TomlTarget,
  { agent, command }: Ours,
): Omit<Change, 'file'> | 'taken' | undefined {
  const there = keys.find((one) => one.key === key)
  if (there !== undefined) return areOurs(wordsOf(text, there), agent) ? undefined : 'taken'
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const line = `${key} = ${tomlList(command.words)}`
  const isLineStart = place === 0 || text[place - 1] === '\n' || text[place - 1] === '\uFEFF'
  const insertion = { at: place, text: isLineStart ? `${line}${eol}` : `${eol}${line}` }
  return { after: insertInto(text, [insertion]), insertions: [insertion] }
}

function removeKey(text: string, { keys }: TomlOutline, { key }: TomlTarget, agent: HookAgent): string {
  const there = keys.find((one) => one.key === key)
  if (there === undefined || !areOurs(wordsOf(text, there), agent)) return text
  const lineEnd = text.indexOf('\n', there.end)
  const rest = text.slice(there.end, lineEnd === -1 ? text.length : lineEnd)
  // A comment behind it is somebody's, and stays.
  const to = rest.trim() === '' ? (lineEnd === -1 ? text.length : lineEnd + 1) : there.end
  return cutFrom(text, [{ from: there.start, to }])
}

/** The words of a list as we write it; none for one in another spelling. */
function wordsOf(text: string, { start, end }: { readonly start: number; readonly end: number }): unknown {
  const [, list] = /^[^=]*=\s*(\[.*\])$/s.exec(text.slice(start, end)) ?? []
  try {
    return list === undefined ? [] : (JSON.parse(list) as unknown)
  } catch {
    return []
  }
}

/** What was put in is out, and nothing else is: the same as what was found by its meaning. */
function saysTheSame(
  candidate: string,
  found: string,
  target: JsonTarget | TomlTarget,
  ours: { readonly agent: HookAgent; readonly file: string },
): boolean {
  if (target.kind === 'toml') return outlineSays(candidate, found)
  try {
    return removeHooks(candidate, target, ours) === candidate
  } catch {
    // Somebody has put a member before ours, whose comma would be left over.
    return false
  }
}

/** Both have the same keys and tables. */
function outlineSays(candidate: string, found: string): boolean {
  const a = outlineToml(candidate)
  const b = outlineToml(found)
  if ('problem' in a || 'problem' in b) return false
  const names = ({ keys, tables }: TomlOutline): string =>
    JSON.stringify([keys.map(({ key }) => key), tables])
  return names(a) === names(b)
}

export type HookState = {
  readonly agent: HookAgent
  readonly scope: Scope
  readonly file: string
  /** `partly`: some events are missing. `taken`: the place is another program's. */
  readonly state: 'installed' | 'partly' | 'none' | 'taken' | 'unreadable'
  readonly problem?: string
}

export function stateOf(agent: Agent, scope: Scope, folders: AgentFolders): readonly HookState[] {
  return agent.targets.flatMap((target): readonly HookState[] => {
    const file = target.file(scope, folders)
    if (file === undefined) return []
    const said = { agent: agent.id, scope, file }
    try {
      const { text = '' } = readSettingsFile(file)
      if (target.kind === 'toml') {
        const there = outlineOf(file, text).keys.find(({ key }) => key === target.key)
        if (there === undefined) return [{ ...said, state: 'none' }]
        return [{ ...said, state: areOurs(wordsOf(text, there), agent.id) ? 'installed' : 'taken' }]
      }
      const events = hookedEvents(text, target, agent.id, file).length
      return [
        { ...said, state: events === 0 ? 'none' : events < target.events.length ? 'partly' : 'installed' },
      ]
    } catch (error) {
      return [
        { ...said, state: 'unreadable', problem: error instanceof Error ? error.message : String(error) },
      ]
    }
  })
}
