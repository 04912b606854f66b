/** The blocks of an entry, each as what it is. */
import type { Block, TextBlock, ThinkingBlock } from '../../../transcript/block.ts'
import { hasAnsi } from '../../text/ansi.ts'
import { Code } from '../../text/code.tsx'
import { Markdown } from '../../text/markdown.tsx'
import { oneLine, titleLine, visible } from '../../text/visible.ts'
import { Visible } from '../../ui/visible.tsx'
import { isFoldedText } from './context.ts'
import { Fold } from './fold.tsx'
import { Output } from './output.tsx'
import type { PartProps } from './parts.ts'
import { Picture } from './picture.tsx'
import { ShowAll } from './show-all.tsx'
import { pretty } from './pretty.ts'
import { Stored } from './stored.tsx'
import { ToolCall, ToolResult } from './tool.tsx'
import { unitsOf } from './typist.ts'

/** Text beyond this is no prose: it is shown as it is. */
const LONGEST_MARKDOWN = 400_000

export function BlockView({ block, ...part }: PartProps & { readonly block: Block }) {
  switch (block.type) {
    case 'text':
      return <Text block={block} {...part} />
    case 'thinking':
      return <Thinking block={block} {...part} />
    case 'tool-call':
      return <ToolCall block={block} {...part} />
    case 'tool-result':
      return <ToolResult block={block} {...part} />
    case 'image': {
      const isCut = Object.keys(part.row.cut ?? {}).some((path) => path === `blocks.${part.at}.data`)
      return (
        <>
          <Picture block={block} isCut={isCut} />
          <ShowAll row={part.row} at={part.at} store={part.store} />
        </>
      )
    }
    case 'error':
      return (
        <div class="entry-error">
          <strong>Error{block.code === undefined ? '' : ` ${visible(oneLine(block.code, 100))}`}</strong>{' '}
          <Visible text={block.message} />
          <ShowAll row={part.row} at={part.at} store={part.store} />
        </div>
      )
    case 'unknown': {
      const name = `unknown ${part.at}`
      return (
        <Fold
          isOpen={part.shown.isOpen(part.row.position, name)}
          onTurn={() => part.shown.turn(part.row.position, name)}
          tone="quiet"
          line={
            <>
              {block.reason === undefined ? (
                <span class="record-name">Record</span>
              ) : (
                visible(oneLine(block.reason, 200))
              )}{' '}
              <code class="tool-says">{visible(oneLine(pretty(block.raw).slice(0, 400), 160))}</code>
            </>
          }
        >
          {() => (
            <>
              <Code text={pretty(block.raw)} lang="json" />
              <ShowAll row={part.row} at={part.at} store={part.store} />
            </>
          )}
        </Fold>
      )
    }
  }
}

function Text({ block, row, at, store, shown }: PartProps & { readonly block: TextBlock }) {
  if (typeof block.text !== 'string') return <Stored content={block.text} />
  const text = shown.typedText(row.position, block.text, unitsOf(row.entry.blocks.slice(0, at)))
  const isOutput =
    text.length > LONGEST_MARKDOWN || hasAnsi(text.slice(0, LONGEST_MARKDOWN).replaceAll('\r\n', '\n'))
  const all = (
    <>
      {isOutput ? <Output text={text} label="Text" /> : <Markdown text={text} />}
      <ShowAll row={row} at={at} store={store} />
    </>
  )
  if (!isFoldedText(row.entry, block)) return all
  const part = `text ${at}`
  return (
    <Fold
      isOpen={shown.isOpen(row.position, part)}
      onTurn={() => shown.turn(row.position, part)}
      tone="quiet"
      line={<span>{visible(titleLine(text, 200))}</span>}
    >
      {() => all}
    </Fold>
  )
}

function Thinking({ block, row, at, store, shown }: PartProps & { readonly block: ThinkingBlock }) {
  const { text } = block
  const says = typeof text === 'string' ? text : ''
  if (says === '' && typeof text === 'string')
    return <p class="quiet thinking-hidden">Thinking, which the provider does not show</p>
  const part = `thinking ${at}`
  return (
    <Fold
      isOpen={shown.isOpen(row.position, part)}
      onTurn={() => shown.turn(row.position, part)}
      tone="quiet"
      line={
        <>
          <span class="tool-name">Thinking</span>{' '}
          <span class="thinking-says">{visible(titleLine(says, 200))}</span>
        </>
      }
    >
      {() => (
        <>
          {typeof text === 'string' ? <Markdown text={text} /> : <Stored content={text} />}
          <ShowAll row={row} at={at} store={store} />
        </>
      )}
    </Fold>
  )
}
