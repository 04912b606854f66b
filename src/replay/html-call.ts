/** A tool call folded to the one line that says what it was for; open, what it was given and what came back. */
import { isObject, type Json } from '../transcript/json.ts'
import type { ToolCallBlock } from '../transcript/block.ts'
import { errorText, inputText, outputText } from './content.ts'
import { lineDiff } from './line-diff.ts'
import { cut } from './escape.ts'
import { escapeHtml, pre, terminal } from './html-text.ts'
import type { ShownCall } from './turns.ts'

export function toolCall({ call, result }: ShownCall): string {
  const failed = result && errorText(result)
  const error = failed === undefined ? '' : pre(failed, 'error')
  const output = result === undefined ? '<p>no output recorded</p>\n' : terminal(outputText(result))
  const about = aboutOf(call)
  const line =
    about === undefined ? '' : ` <code>${escapeHtml(cut(about.replaceAll(/\s+/g, ' '), 160))}</code>`
  const mark = failed === undefined ? '' : ' class="error"'
  // What failed stands open: it is what people look for.
  return `<details${failed === undefined ? '' : ' open'}>
<summary${mark}>${escapeHtml(call.name)}${line}</summary>
${editOf(call) ?? pre(inputText(call, 2))}${output}${error}</details>
`
}

const TELLING = [
  'command',
  'file_path',
  'path',
  'filePath',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
]

function aboutOf({ input }: ToolCallBlock): string | undefined {
  if (!isObject(input)) return undefined
  for (const name of TELLING) {
    const value: Json | undefined = Object.hasOwn(input, name) ? input[name] : undefined
    if (typeof value === 'string' && value.trim() !== '') return value.slice(0, 1000)
    if (Array.isArray(value) && value.every((one) => typeof one === 'string'))
      return value.join(' ').slice(0, 1000)
  }
  return undefined
}

const OLD = ['old_string', 'old_str', 'oldString', 'old_text', 'oldText']
const NEW = ['new_string', 'new_str', 'newString', 'new_text', 'newText']

/** What an edit takes away and puts there; undefined for what is none. */
function editOf({ input }: ToolCallBlock): string | undefined {
  if (!isObject(input)) return undefined
  const text = (names: readonly string[]): string | undefined => {
    const found = names.map((name) => (Object.hasOwn(input, name) ? input[name] : undefined))
    return found.find((value) => typeof value === 'string')
  }
  const before = text(OLD)
  const after = text(NEW)
  if (before === undefined || after === undefined) return undefined
  const lines = lineDiff(before, after).map(({ sign, line }) => {
    const html = `${sign} ${escapeHtml(line)}`
    if (sign === ' ') return html
    return sign === '+' ? `<ins>${html}</ins>` : `<del>${html}</del>`
  })
  return `<pre class="diff">\n${lines.join('\n')}</pre>\n`
}
