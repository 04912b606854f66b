/** What a tool call changes in files, told from its arguments whatever the agent calls them. Empty for calls that change none. */
import type { Json, JsonObject } from '../../transcript/json.ts'
import { diffTexts, patchRows, searchReplaceRows, wholeRows, type DiffRow } from './diff.ts'

export type Edit = { readonly file?: string; readonly rows: readonly DiffRow[]; readonly isWhole?: true }

const OLD = [
  'old_string',
  'old_str',
  'oldString',
  'oldText',
  'old_text',
  'search',
  'target_content',
  'TargetContent',
]
const NEW = [
  'new_string',
  'new_str',
  'newString',
  'newText',
  'new_text',
  'replace',
  'replacement',
  'ReplacementContent',
]
const FILE = [
  'file_path',
  'filePath',
  'path',
  'file',
  'target_file',
  'TargetFile',
  'filename',
  'notebook_path',
  'absolute_path',
]
const CONTENT = ['content', 'file_text', 'contents', 'CodeContent', 'new_source']
const PATCH = ['patch', 'diff', 'input', 'patchText', 'unified_diff', 'command']
const LISTS = ['edits', 'changes', 'replacements', 'ReplacementChunks']
const MOST = 200

const isRecord = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function editsOf(name: string, input: Json | undefined): readonly Edit[] {
  if (typeof input === 'string') return patchEdits(input)
  if (!isRecord(input)) return []
  const file = textIn(input, FILE)
  const named = file === undefined ? {} : { file }
  const own = replacement(input)
  if (own !== undefined) return [{ ...named, rows: own }]
  for (const key of LISTS) {
    const list = input[key]
    if (!Array.isArray(list)) continue
    const parts = list.slice(0, MOST).flatMap((one: Json) => (isRecord(one) ? (replacement(one) ?? []) : []))
    if (parts.length > 0) return [{ ...named, rows: parts }]
  }
  for (const key of PATCH) {
    const value = input[key]
    const text = Array.isArray(value) ? value.find(isPatch) : value
    if (!isPatch(text)) continue
    const blocks = searchReplaceRows(text)
    if (blocks !== undefined) return [{ ...named, rows: blocks }]
    return patchEdits(text, file)
  }
  const content = textIn(input, CONTENT)
  const writes = /write|create|save|notebook/i.test(name) || input['command'] === 'create'
  return content !== undefined && writes && file !== undefined
    ? [{ ...named, rows: wholeRows(content, 'new'), isWhole: true }]
    : []
}

function replacement(input: JsonObject): readonly DiffRow[] | undefined {
  const [before, after] = [textIn(input, OLD), textIn(input, NEW)]
  if (before === undefined && after === undefined) {
    const inserted = input['insert_text'] ?? (input['command'] === 'insert' ? input['new_str'] : undefined)
    return typeof inserted === 'string' ? wholeRows(inserted, 'new') : undefined
  }
  // One alone is an argument of some other meaning, except for what is put in.
  if (before === undefined) return input['command'] === 'insert' ? wholeRows(after ?? '', 'new') : undefined
  return after === undefined ? undefined : diffTexts(before, after)
}

function isPatch(text: Json | undefined): text is string {
  return (
    typeof text === 'string' &&
    (text.includes('*** Begin Patch') || /^@@ |^\+\+\+ /m.test(text) || /^[<-]{5,9} ?SEARCH/m.test(text))
  )
}

const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$|^\+\+\+ (?:b\/)?(.{1,1000})$/

function patchEdits(text: string, file?: string): readonly Edit[] {
  if (!isPatch(text)) return []
  const inside = text.includes('*** Begin Patch')
    ? text.slice(text.indexOf('*** Begin Patch'), endOf(text, '*** End Patch'))
    : text
  const edits: { file?: string; lines: string[] }[] = []
  for (const line of inside.split('\n')) {
    const [, added, unified] = PATCHED.exec(line) ?? []
    const next = added ?? unified
    if (next !== undefined && edits.length < MOST) edits.push({ file: next.trim(), lines: [] })
    else if (!/^\*\*\* (?:Begin|End) Patch|^--- |^diff |^index /.test(line)) {
      if (edits.length === 0) edits.push({ ...(file !== undefined && { file }), lines: [] })
      edits.at(-1)?.lines.push(line)
    }
  }
  return edits
    .filter(({ file: named, lines }) => named !== undefined || lines.some((line) => line !== ''))
    .map(({ lines, ...named }) => ({ ...named, rows: patchRows(lines.join('\n')) }))
}

function endOf(text: string, mark: string): number {
  const at = text.indexOf(mark)
  return at === -1 ? text.length : at + mark.length
}

function textIn(input: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = input[key]
    if (Object.hasOwn(input, key) && typeof value === 'string') return value
  }
  return undefined
}
