/** What a tool was given: edits as differences, a command as code, a few short values as they are, anything else as JSON. */
import type { ToolCallBlock } from '../../../transcript/block.ts'
import { Code } from '../../text/code.tsx'
import { Diff } from '../../text/diff.tsx'
import { editsOf, type Edit } from '../../text/edits.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Visible } from '../../ui/visible.tsx'
import { Output } from './output.tsx'
import { pretty } from './pretty.ts'
import { Stored } from './stored.tsx'
import { Todos, todosOf } from './todos.tsx'
import { toolLine } from './tool-line.ts'

/** Characters that a line shows on any page that is not narrow. */
const SHORT_LINE = 60
const COMMANDS = ['command', 'cmd', 'script', 'code'] as const

export function ToolInput({ block: { name, input, inputBlob } }: { readonly block: ToolCallBlock }) {
  const edits = editsOf(name, input)
  if (edits.length > 0)
    return (
      <>
        {edits.map((edit, at) => (
          <EditView key={at} edit={edit} />
        ))}
      </>
    )
  if (inputBlob !== undefined) return <Stored content={inputBlob} />
  if (input === undefined || input === null) return null
  if (typeof input === 'string') return <Output text={input} label="Input" />
  const rest = { ...(input as { readonly [key: string]: unknown }) }
  const todos = todosOf(rest['todos'] ?? rest['plan'])
  if (todos !== undefined) return <Todos todos={todos} />
  const key = COMMANDS.find((one) => typeof rest[one] === 'string')
  const command = key === undefined ? undefined : String(rest[key])
  if (key !== undefined) delete rest[key]
  // What the line says in full is not said again.
  const { says } = toolLine(name, input)
  const [[only, value] = []] = Object.entries(rest)
  if (Object.keys(rest).length === 1 && value === says && only !== undefined) delete rest[only]
  return (
    <>
      {command !== undefined && (command !== says || says.length > SHORT_LINE) && (
        <Code text={command} lang={key === 'code' ? '' : 'bash'} />
      )}
      {Object.keys(rest).length > 0 && <Given values={rest} />}
    </>
  )
}

/** A few short values are read sooner than JSON; anything else is JSON. */
function Given({ values }: { readonly values: { readonly [key: string]: unknown } }) {
  const all = Object.entries(values)
  const isPlain = all.length <= 8 && all.every(([key, value]) => key.length < 40 && isShort(value))
  if (!isPlain) return <Code text={pretty(values)} lang="json" />
  return (
    <dl class="given">
      {all.map(([key, value]) => (
        <>
          <dt>
            <Visible text={key} />
          </dt>
          <dd>
            <code>
              <Visible text={String(value)} />
            </code>
          </dd>
        </>
      ))}
    </dl>
  )
}

const isShort = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' ? value.length < 400 : typeof value === 'number' || typeof value === 'boolean'

function EditView({ edit: { file = '', rows, isWhole } }: { readonly edit: Edit }) {
  const text = (): string =>
    rows
      .flatMap((row) => (row.kind === 'new' || (row.kind === 'same' && !isWhole) ? [row.text] : []))
      .join('\n')
  return (
    <div class="edit">
      <div class="code-head">
        <code class="clip">{visible(oneLine(file, 300))}</code>
        <CopyButton text={text} label="Copy the new text" />
      </div>
      <Diff rows={rows} label={`Changes of ${oneLine(file, 100)}`} />
    </div>
  )
}
