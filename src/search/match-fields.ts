/** Whether an entry and its session are what a query's fields ask for. What is unknown matches no test. */
import { hasFailed, type Block } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import type { Session } from '../transcript/session.ts'
import { sessionTokenSum, sessionUsd } from '../transcript/session-amounts.ts'
import { filesOf } from '../transcript/tool-files.ts'
import { isBefore, type FieldTest, type NameField, type NameTest, type NumberTest } from './query-fields.ts'

export function matchesField(test: FieldTest, entry: Entry, session: Session): boolean {
  if ('values' in test) return matchesName(test, fieldValues(test.field, entry, session))
  if ('operator' in test) return matchesNumber(test, session)
  const at = entry.at ?? session.startedAt
  return at !== undefined && isBefore(at, test.instant) === (test.field === 'until')
}

/** Any of the values is one of those asked for. */
export function matchesName({ field, values }: NameTest, found: readonly string[]): boolean {
  const isPart = field === 'model' || field === 'project' || field === 'file'
  return found.some((one) => {
    const lower = one.toLowerCase()
    return values.some((value) => {
      if (value.includes('*')) return matchesGlob(value, lower, isPart)
      if (field === 'source' && value === 'subagent') return lower.startsWith('subagent:')
      return isPart ? lower.includes(value) : lower === value
    })
  })
}

/** What an entry has of a field. `source:subagent` and `has:` are words of the query's own. */
export function fieldValues(field: NameField, entry: Entry, session: Session): readonly string[] {
  const one = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value])
  switch (field) {
    case 'role':
      return one(entry.role)
    case 'source':
      return one(entry.source)
    case 'model':
      return one(
        entry.model ?? (entry.role === 'assistant' && entry.source === PRIMARY ? session.model : undefined),
      )
    case 'agent':
      return [...one(session.agent), ...one(session.native?.agent)]
    case 'project':
      return one(session.cwd)
    case 'branch':
      return one(session.git?.branch)
    case 'run':
      return one(session.run?.id)
    case 'flow':
      return one(session.run?.flow)
    case 'step':
      return one(session.run?.step)
    case 'status':
      return one(session.status)
    case 'tool':
      return toolsOf(entry)
    case 'file':
      return filesOf(entry)
    case 'has':
      return addParts([], entry.blocks)
  }
}

function toolsOf({ blocks }: Entry): readonly string[] {
  const names: string[] = []
  for (const block of blocks)
    if ((block.type === 'tool-call' || block.type === 'tool-result') && block.name !== undefined)
      names.push(block.name)
  return names
}

function addParts(parts: string[], blocks: readonly Block[]): string[] {
  for (const block of blocks) {
    switch (block.type) {
      case 'error':
      case 'thinking':
      case 'image':
        parts.push(block.type)
        break
      case 'tool-call':
        parts.push('tool')
        break
      case 'tool-result':
        if (Array.isArray(block.output)) addParts(parts, block.output)
        parts.push('tool')
        if (hasFailed(block)) parts.push('error')
        break
      case 'text':
      case 'unknown':
    }
  }
  return parts
}

function matchesNumber({ field, operator, value }: NumberTest, session: Session): boolean {
  const known = field === 'cost' ? Number(sessionUsd(session)?.usd ?? Number.NaN) : sessionTokenSum(session)
  if (known === undefined || Number.isNaN(known)) return false
  switch (operator) {
    case '<':
      return known < value
    case '<=':
      return known <= value
    case '>':
      return known > value
    case '>=':
      return known >= value
    case '=':
      return known === value
  }
}

/** By the pieces between stars, each looked for once after the one before: linear, where a pattern would not be. */
function matchesGlob(glob: string, text: string, isPart: boolean): boolean {
  const pieces = glob.split('*')
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (
    !isPart &&
    (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
  )
    return false
  let at = isPart ? 0 : first.length
  const end = isPart ? text.length : text.length - last.length
  for (const piece of isPart ? pieces : pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at)
    if (found === -1 || found + piece.length > end) return false
    at = found + piece.length
  }
  return true
}
