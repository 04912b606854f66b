/** A tool call on one line that opens to what it was given, what it gave back and how long it took. */
import type { EntryRow } from '../../../server/api.ts'
import {
  contentText,
  hasFailed,
  type Block,
  type Content,
  type ToolCallBlock,
  type ToolResultBlock,
} from '../../../transcript/block.ts'
import { filesIn, wayOf } from '../../../transcript/tool-files.ts'
import { Code } from '../../text/code.tsx'
import { editsOf } from '../../text/edits.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { shortDuration } from '../../ui/numbers.ts'
import { FileText, isFileText } from './file-text.tsx'
import { Fold } from './fold.tsx'
import { Output } from './output.tsx'
import type { PartProps } from './parts.ts'
import { Picture } from './picture.tsx'
import { pretty } from './pretty.ts'
import { ShowAll } from './show-all.tsx'
import { Stored } from './stored.tsx'
import { ToolInput } from './tool-input.tsx'
import { toolLine } from './tool-line.ts'

export function ToolCall({ row, block, at, store, shown }: PartProps & { readonly block: ToolCallBlock }) {
  const { position, entry } = row
  const found = block.callId === undefined ? undefined : store.pages.resultOf(entry.source, block.callId)
  const answer = found && store.pages.get(found.position)
  const result = found?.block
  const { name, says, isCode } = toolLine(block.name, block.input)
  const isFailed = result !== undefined && hasFailed(result)
  const part = `tool ${at}`
  return (
    <Fold
      isOpen={shown.isOpen(position, part)}
      onTurn={() => shown.turn(position, part)}
      {...(isFailed && { tone: 'bad' as const })}
      line={
        <>
          <span class="tool-name">{visible(name)}</span>{' '}
          {isCode ? (
            <code class="tool-says">{visible(says)}</code>
          ) : (
            <span class="tool-says">{visible(says)}</span>
          )}
          <Changed name={block.name} input={block.input} />
        </>
      }
      end={
        <ToolEnd
          isRunning={store.answer.value?.row.status === 'running'}
          row={row}
          answer={answer}
          result={result}
          isFailed={isFailed}
        />
      }
    >
      {() => (
        <>
          <ToolInput block={block} />
          <ShowAll row={row} at={at} store={store} />
          {result !== undefined && answer !== undefined && (
            <>
              <p class="tool-part">{isFailed ? 'Failed' : 'Output'}</p>
              <ToolOutput
                row={answer}
                block={result}
                at={found?.at ?? 0}
                store={store}
                shown={shown}
                file={isFailed ? undefined : fileRead(block)}
              />
            </>
          )}
        </>
      )}
    </Fold>
  )
}

/** Of a call that is not there, or not loaded. */
export function ToolResult({
  row,
  block,
  at,
  store,
  shown,
}: PartProps & { readonly block: ToolResultBlock }) {
  const isFailed = hasFailed(block)
  const part = `result ${at}`
  const text = textOf(block)
  return (
    <Fold
      isOpen={shown.isOpen(row.position, part)}
      onTurn={() => shown.turn(row.position, part)}
      {...(isFailed && { tone: 'bad' as const })}
      line={
        <>
          <span class="tool-name">{isFailed ? 'Failed' : 'Output'}</span>{' '}
          {block.name !== undefined && <span class="quiet">{visible(oneLine(block.name, 80))} </span>}
          <code class="tool-says">{visible(oneLine(text, 200))}</code>
        </>
      }
    >
      {() => <ToolOutput row={row} block={block} at={at} store={store} shown={shown} />}
    </Fold>
  )
}

function ToolEnd({
  row,
  answer,
  result,
  isFailed,
  isRunning,
}: {
  readonly isRunning: boolean
  readonly row: EntryRow
  readonly answer: EntryRow | undefined
  readonly result: ToolResultBlock | undefined
  readonly isFailed: boolean
}) {
  if (result === undefined) return <span class="quiet">{isRunning ? 'running' : 'no answer'}</span>
  const ms = answer?.entry.durationMs ?? between(row.entry.at, answer?.entry.at)
  return (
    <>
      {isFailed && <span class="chip is-bad">failed</span>}
      {ms !== undefined && <span class="quiet numbers">{shortDuration(ms)}</span>}
    </>
  )
}

function between(from: string | undefined, to: string | undefined): number | undefined {
  const ms = Date.parse(to ?? '') - Date.parse(from ?? '')
  return Number.isNaN(ms) || ms < 0 ? undefined : ms
}

function Changed({ name, input }: { readonly name: string; readonly input: ToolCallBlock['input'] }) {
  const edits = editsOf(name, input)
  if (edits.length === 0) return null
  const count = (kind: 'new' | 'gone'): number =>
    edits.reduce((sum, { rows }) => sum + rows.filter((row) => row.kind === kind).length, 0)
  return (
    <span class="changed numbers">
      <span class="changed-new">+{count('new')}</span> <span class="changed-gone">−{count('gone')}</span>
    </span>
  )
}

/** Of a call that reads one file: what it gives back is that. */
function fileRead({ name, input }: ToolCallBlock): string | undefined {
  if (wayOf(name, input) !== 'read') return undefined
  const [file, ...others] = filesIn(input)
  return others.length === 0 ? file : undefined
}

type OutputProps = PartProps & {
  readonly block: ToolResultBlock
  /** What it gives back is the text of this file. */
  readonly file?: string | undefined
}

function ToolOutput({ row, block, at, store, shown, file }: OutputProps) {
  const { output, error } = block
  return (
    <>
      {error !== undefined && <Output text={error} label="Error" />}
      {output === undefined ? (
        error === undefined && <p class="quiet">Nothing was given back</p>
      ) : Array.isArray(output) ? (
        (output as readonly Block[])
          .slice(0, 100)
          .map((part, index) => (
            <OutputPart key={index} block={part} row={row} at={at} store={store} shown={shown} file={file} />
          ))
      ) : (
        <TextOutput content={output as Content} file={file} />
      )}
      <ShowAll row={row} at={at} store={store} />
    </>
  )
}

function TextOutput({ content, file }: { readonly content: Content; readonly file: string | undefined }) {
  if (file !== undefined && typeof content === 'string' && isFileText({ file, text: content }))
    return <FileText file={file} text={content} />
  return <Stored content={content} />
}

function OutputPart({ block, row, at, file }: Omit<OutputProps, 'block'> & { readonly block: Block }) {
  if (block.type === 'text' || block.type === 'thinking')
    return <TextOutput content={block.text} file={file} />
  const isCut = Object.keys(row.cut ?? {}).some(
    (path) => path.startsWith(`blocks.${at}.`) && path.endsWith('data'),
  )
  if (block.type === 'image') return <Picture block={block} isCut={isCut} />
  if (block.type === 'error') return <Output text={block.message} label="Error" />
  return <Code text={pretty(block.type === 'unknown' ? block.raw : block)} lang="json" />
}

function textOf({ output, error }: ToolResultBlock): string {
  if (output === undefined) return error ?? ''
  if (!Array.isArray(output)) return contentText(output as Content)
  const first = (output as readonly Block[]).find((block) => block.type === 'text')
  return first?.type === 'text' ? contentText(first.text) : ''
}
