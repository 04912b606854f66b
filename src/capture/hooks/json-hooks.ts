/**
 * Hooks in an agent's JSON settings: put in where they are missing, found again, and taken out. Each is a change of text, applied one
 * after the other; nothing else in the file is touched.
 */
import { HansardError } from '../../errors.ts'
import { isOurs, type HookCommand, type JsonTarget } from './agents.ts'
import type { HookAgent } from './entry.ts'
import { appendTo, cutFrom, cutOf, insertInto, itemsOf, styleOf, type Insertion } from './json-edit.ts'
import { memberOf, parseTree, valueOf, type JsonNode } from './json-tree.ts'

/** Each put into the text that those before it have left. */
export type Changed = { readonly text: string; readonly insertions: readonly Insertion[] }

export function addHooks(
  before: string,
  target: JsonTarget,
  {
    agent,
    command,
    file,
  }: { readonly agent: HookAgent; readonly command: HookCommand; readonly file: string },
): Changed {
  let text = before
  const insertions: Insertion[] = []
  const put = (added: readonly Insertion[]): void => {
    // From the end, so that none moves another.
    for (const insertion of added.toReversed()) {
      text = insertInto(text, [insertion])
      insertions.push(insertion)
    }
  }
  if (text.replace(/^\uFEFF/, '').trim() === '')
    put([{ at: text.startsWith('\uFEFF') ? 1 : 0, text: `{}${eolOf(text)}` }])
  const style = styleOf(text, parse(text, target, file))
  for (const [key, value] of Object.entries(target.needs ?? {})) {
    const root = parse(text, target, file)
    if (memberOf(root, key) === undefined) put(appendTo(text, root, { key, value }, { depth: 0, style }))
  }
  const missing = target.events.filter((event) => !hasOurs(parse(text, target, file), event, agent))
  const [first] = missing
  if (first !== undefined && memberOf(parse(text, target, file), HOOKS) === undefined) {
    const value = Object.fromEntries(missing.map((event) => [event, [target.entry(command)]]))
    put(appendTo(text, parse(text, target, file), { key: HOOKS, value }, { depth: 0, style }))
    return { text, insertions }
  }
  for (const event of missing) {
    const hooks = containerOf(memberOf(parse(text, target, file), HOOKS)?.node, 'object', file, HOOKS)
    const list = memberOf(hooks, event)
    const entry = target.entry(command)
    if (list === undefined) put(appendTo(text, hooks, { key: event, value: [entry] }, { depth: 1, style }))
    else {
      const items = containerOf(list.node, 'array', file, `${HOOKS}.${event}`)
      put(appendTo(text, items, { value: entry }, { depth: 2, style }))
    }
  }
  return { text, insertions }
}

const HOOKS = 'hooks'

const eolOf = (text: string): string => (text.includes('\n') ? '' : '\n')

/** Which events call us. */
export function hookedEvents(
  text: string,
  target: JsonTarget,
  agent: HookAgent,
  file: string,
): readonly string[] {
  if (text.replace(/^\uFEFF/, '').trim() === '') return []
  const root = parse(text, target, file)
  return target.events.filter((event) => hasOurs(root, event, agent))
}

/** The lines that call us. */
export function commandsIn(
  text: string,
  target: JsonTarget,
  agent: HookAgent,
  file: string,
): readonly string[] {
  if (text.replace(/^\uFEFF/, '').trim() === '') return []
  const hooks = memberOf(parse(text, target, file), HOOKS)?.node
  if (hooks === undefined) return []
  return itemsOf(hooks).flatMap(({ node }) =>
    itemsOf(node).flatMap((item) => linesOf(valueOf(item.node), agent)),
  )
}

/** Whatever calls us, gone, with the lists that are empty then; by what the file says, not by what was once put in. */
export function removeHooks(
  before: string,
  target: JsonTarget,
  { agent, file }: { readonly agent: HookAgent; readonly file: string },
): string {
  if (before.replace(/^\uFEFF/, '').trim() === '') return before
  let text = before
  for (;;) {
    const root = parse(text, target, file)
    const path = findOurs(root, agent)
    if (path === undefined) return text
    text = cutFrom(text, cutOf(text, path.node, path.index))
  }
}

type Path = { readonly node: JsonNode; readonly index: number }

/** The widest thing that holds nothing but a call of ours. */
function findOurs(root: JsonNode, agent: HookAgent): Path | undefined {
  if (root.kind !== 'object') return undefined
  const hooksAt = root.members.findLastIndex(({ key }) => key === HOOKS)
  const hooks = root.members[hooksAt]?.node
  if (hooks?.kind !== 'object') return undefined
  for (const [eventAt, event] of hooks.members.entries()) {
    for (const [itemAt, item] of itemsOf(event.node).entries()) {
      if (!callsUs(valueOf(item.node), agent)) continue
      const group = memberOf(item.node, HOOKS)?.node
      if (group !== undefined && itemsOf(group).length > 1) {
        const index = itemsOf(group).findIndex(({ node }) => callsUs(valueOf(node), agent))
        return { node: group, index }
      }
      if (itemsOf(event.node).length > 1) return { node: event.node, index: itemAt }
      return hooks.members.length > 1 ? { node: hooks, index: eventAt } : { node: root, index: hooksAt }
    }
  }
  return undefined
}

function hasOurs(root: JsonNode, event: string, agent: HookAgent): boolean {
  const hooks = memberOf(root, HOOKS)?.node
  const list = hooks && memberOf(hooks, event)?.node
  return list !== undefined && itemsOf(list).some(({ node }) => callsUs(valueOf(node), agent))
}

const callsUs = (entry: unknown, agent: HookAgent): boolean => linesOf(entry, agent).length > 0

/** Of an entry of an event's list, or of a group in it. */
function linesOf(entry: unknown, agent: HookAgent): readonly string[] {
  if (typeof entry !== 'object' || entry === null) return []
  const { command, bash, hooks } = entry as { [key: string]: unknown }
  const own = [command, bash].filter((line) => typeof line === 'string' && isOurs(line, agent))
  return [...own.map(String), ...(Array.isArray(hooks) ? hooks.flatMap((one) => linesOf(one, agent)) : [])]
}

function parse(text: string, { comments }: JsonTarget, file: string): JsonNode {
  const tree = parseTree(text, { comments })
  if ('problem' in tree) throw unreadable(file, `line ${tree.line} has ${tree.problem}`)
  if (tree.kind !== 'object') throw unreadable(file, 'it is no object')
  return tree
}

function containerOf(
  node: JsonNode | undefined,
  kind: 'object' | 'array',
  file: string,
  what: string,
): JsonNode {
  if (node?.kind === kind) return node
  throw unreadable(file, `${what} is no ${kind === 'array' ? 'list' : 'object'}`)
}

export function unreadable(file: string, why: string): HansardError {
  return new HansardError('invalid-argument', `${file} is not changed, for it cannot be read: ${why}`, {
    hint: 'put it right, then run the command again',
  })
}
