/**
 * Tool calls and results that are written as text: before models were given tools, the family asked them for XML
 * (`<read_file><path>a</path></read_file>`) and answered in words (`[read_file for 'a'] Result:`). In one pass, in linear time.
 */
import type { Block } from '../transcript/block.ts'
import type { Json } from '../transcript/json.ts'

/** A text as text and calls, in its order. What is no whole call of a known tool stays text. */
export function splitCalls(text: string): readonly Block[] {
  const blocks: Block[] = []
  /** Tools whose end does not come any more: looked for once. */
  const endless = new Set<string>()
  let said = 0
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const name = tagAt(text, at)
    if (name === undefined || !TOOLS.has(name) || endless.has(name)) continue
    const inner = at + name.length + 2
    const end = text.indexOf(`</${name}>`, inner)
    if (end === -1) {
      endless.add(name)
      continue
    }
    pushText(blocks, text.slice(said, at))
    blocks.push({ type: 'tool-call', name, input: parametersOf(text.slice(inner, end)) })
    said = end + name.length + 3
    at = said - 1
  }
  if (said === 0) return [{ type: 'text', text }]
  pushText(blocks, text.slice(said))
  return blocks
}

/** `[read_file for 'a'] Result:` with what follows it: the tool's name and the output that stands on the same text. */
export function resultOf(text: string): { readonly name: string; readonly output: string } | undefined {
  const match = RESULT.exec(text)
  const name = match?.[1]
  if (match === null || name === undefined || !(TOOLS.has(name) || MCP.test(name))) return undefined
  return { name, output: text.slice(match[0].length) }
}

/** What the program adds to each request about the editor. */
export function isEnvironment(text: string): boolean {
  return text.startsWith('<environment_details>')
}

const RESULT = /^\[([a-z_]{2,40})(?: [^\n]{0,2000}?)?\] Result:\n?/
const MCP = /^(use_mcp_tool|access_mcp_resource)$/

const TOOLS: ReadonlySet<string> = new Set(
  (
    'access_mcp_resource apply_diff apply_patch ask_followup_question attempt_completion browser_action codebase_search condense ' +
    'delete_file edit_file execute_command fetch_instructions generate_image insert_content list_code_definition_names ' +
    'list_files load_mcp_documentation new_rule new_task plan_mode_respond read_file replace_in_file report_bug ' +
    'run_slash_command search_and_replace search_files switch_mode update_todo_list use_mcp_tool use_skill ' +
    'use_subagents web_fetch web_search write_to_file'
  ).split(' '),
)

/** The name of the tag that opens here. */
function tagAt(text: string, at: number): string | undefined {
  const head = text.slice(at + 1, at + TAG_LENGTH)
  const end = head.indexOf('>')
  if (end === -1) return undefined
  const name = head.slice(0, end)
  return /^[a-z_]+$/.test(name) ? name : undefined
}

const TAG_LENGTH = 42

/**
 * `<path>a</path><content>…</content>`; a file's content may itself hold any tag, so it goes to the last one that ends it. A call without
 * any is what stands in it.
 */
function parametersOf(text: string): Json {
  const parameters = Object.create(null) as Record<string, Json>
  let count = 0
  for (let at = text.indexOf('<'); at !== -1 && count < MOST_PARAMETERS; at = text.indexOf('<', at + 1)) {
    const name = tagAt(text, at)
    if (name === undefined || name in parameters) continue
    const inner = at + name.length + 2
    const close = `</${name}>`
    const found = LONG.has(name) ? text.lastIndexOf(close) : text.indexOf(close, inner)
    const end = found < inner ? text.length : found
    parameters[name] = trimLines(text.slice(inner, end))
    count += 1
    at = end + close.length - 1
  }
  return count === 0 && text.trim() !== '' ? text.trim() : parameters
}

/** More than any tool takes: each is looked for in the whole call. */
const MOST_PARAMETERS = 50

const LONG: ReadonlySet<string> = new Set(['content', 'diff'])

/** The line breaks around a value are the XML's. */
function trimLines(value: string): string {
  return value.replace(/^\n/, '').replace(/\n$/, '')
}

function pushText(blocks: Block[], text: string): void {
  if (text.trim() !== '') blocks.push({ type: 'text', text: text.trim() })
}
