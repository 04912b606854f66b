/** A tool call on one line: what it is about, as a person would say it. */
import type { Json, JsonObject } from '../../../transcript/json.ts'
import { oneLine } from '../../text/visible.ts'

export type ToolLine = {
  /** Without the server's part of an MCP tool's name. */
  readonly name: string
  readonly says: string
  /** `says` is a command, a file or a pattern. */
  readonly isCode: boolean
}

/** What says the most first. */
const CODE_KEYS = [
  'command',
  'cmd',
  'script',
  'code',
  'file_path',
  'filePath',
  'absolute_path',
  'target_file',
  'notebook_path',
  'path',
  'file',
  'filename',
  'relative_path',
  'pattern',
  'query',
  'regex',
  'url',
  'uri',
  'glob_pattern',
  'symbol',
]
const TEXT_KEYS = [
  'description',
  'title',
  'prompt',
  'task',
  'subject',
  'question',
  'message',
  'text',
  'skill',
  'name',
  'explanation',
]
/** Of the members of a list. */
const ITEM_KEYS = [...CODE_KEYS, ...TEXT_KEYS, 'recipient_name', 'header', 'content', 'id']
/** Of these the description says more than any path. */
const TASKS = /^(?:task|agent|spawn_agent|new_task|delegate|subagent|dispatch)/i
const SEARCHES = /grep|search|glob|find|ripgrep/i
const LONGEST = 240

export function toolLine(tool: string, input: Json | undefined): ToolLine {
  const name = shortName(tool)
  if (typeof input === 'string') return { name, says: about(firstPatched(input) ?? input), isCode: true }
  if (!isRecord(input))
    return {
      name,
      says: input === undefined || input === null ? '' : oneLine(JSON.stringify(input), LONGEST),
      isCode: true,
    }
  if (TASKS.test(name)) {
    const text = textIn(input, TEXT_KEYS)
    if (text !== undefined) {
      const kind = textIn(input, ['subagent_type', 'agent_type', 'agent'])
      return {
        name: kind === undefined ? name : `${name}: ${oneLine(kind, 60)}`,
        says: about(text),
        isCode: false,
      }
    }
  }
  if (SEARCHES.test(name)) {
    const pattern = textIn(input, ['pattern', 'query', 'regex', 'glob_pattern', 'search', 'q'])
    const place = textIn(input, ['path', 'include', 'glob', 'directory', 'target_directories'])
    if (pattern !== undefined)
      return {
        name,
        says: about(place === undefined ? pattern : `${oneLine(pattern, 120)}  in ${place}`),
        isCode: true,
      }
  }
  if (Array.isArray(input['todos'])) return { name, says: todos(input['todos']), isCode: false }
  if (Array.isArray(input['plan'])) return { name, says: todos(input['plan']), isCode: false }
  const patch = textIn(input, ['patch', 'input', 'patchText'])
  const patched = patch === undefined ? undefined : firstPatched(patch)
  if (patched !== undefined) return { name, says: about(patched), isCode: true }
  for (const key of CODE_KEYS) {
    const value = input[key]
    const text = Array.isArray(value) ? words(value) : value
    if (typeof text === 'string' && text.trim() !== '')
      return { name, says: about(firstPatched(text) ?? text), isCode: true }
  }
  const text = textIn(input, TEXT_KEYS)
  if (text !== undefined) return { name, says: about(text), isCode: false }
  const listed = Object.values(input)
    .map(items)
    .find((text) => text !== '')
  if (listed !== undefined) return { name, says: about(listed), isCode: true }
  const first = Object.entries(input).slice(0, 4)
  return {
    name,
    says: oneLine(first.map(([key, value]) => `${key}: ${short(value)}`).join(', '), LONGEST),
    isCode: true,
  }
}

/** What a list is about: its words, or of each of its members what says the most. */
function items(value: Json | undefined): string {
  if (!Array.isArray(value)) return ''
  const texts = value.slice(0, 6).map((one: Json) => {
    if (typeof one === 'string') return oneLine(one, 120)
    return isRecord(one) ? oneLine(textIn(one, ITEM_KEYS) ?? '', 120) : ''
  })
  const said = texts.filter((text) => text !== '')
  return said.length === 0 ? '' : said.join(', ') + (value.length > 6 ? ` and ${value.length - 6} more` : '')
}

const isRecord = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `mcp__github__create_issue` is `github create_issue`. */
function shortName(tool: string): string {
  const name = oneLine(tool, 80)
  const [, server, own] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  return server === undefined ? name : `${server} ${own}`
}

const about = (text: string): string => oneLine(text, LONGEST)

/** `["bash", "-lc", "npm test"]` is what it runs. */
function words(list: readonly Json[]): string {
  const texts = list.slice(0, 50).filter((one) => typeof one === 'string')
  const isShell = /^(?:\/bin\/)?(?:ba|z)?sh$/.test(texts[0] ?? '') && /^-\w*c$/.test(texts[1] ?? '')
  return (isShell ? texts.slice(2) : texts).join(' ')
}

function firstPatched(text: string): string | undefined {
  if (!text.includes('*** Begin Patch')) return undefined
  const files = [...text.slice(0, 100_000).matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.{1,500})$/gm)].map(
    ([, file = '']) => file,
  )
  return files.length === 0
    ? undefined
    : files.slice(0, 5).join(', ') + (files.length > 5 ? ` and ${files.length - 5} more` : '')
}

function todos(list: readonly Json[]): string {
  const items = list.filter(isRecord)
  const done = items.filter(({ status }) => status === 'completed').length
  const now = items.find(({ status }) => status === 'in_progress')
  const doing = now === undefined ? undefined : textIn(now, ['activeForm', 'content', 'step', 'title'])
  return `${done} of ${items.length} done${doing === undefined ? '' : ` · ${about(doing)}`}`
}

function short(value: Json | undefined): string {
  if (typeof value === 'string') return oneLine(value, 80)
  return Array.isArray(value)
    ? `[${value.length}]`
    : isRecord(value)
      ? '{…}'
      : `${value as number | boolean | null}`
}

function textIn(input: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(input, key) ? input[key] : undefined
    if (typeof value === 'string' && value.trim() !== '') return value
  }
  return undefined
}
