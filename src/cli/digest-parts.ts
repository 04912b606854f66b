/** A session and its entries in as many bytes as there are for them: texts are cut at their end, and say how much is missing. */
import type { Block, Content } from '../transcript/block.ts'
import { citation, type Entry } from '../transcript/entry.ts'
import { toJson, type Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { createClock } from '../replay/clock.ts'
import { visible, visibleLine } from '../replay/escape.ts'
import { cutText } from './budget.ts'
import { printableJson } from './print.ts'

export type Draw = (entry: Entry, session: Session, characters: number) => string

/** As much of an entry as so many bytes hold. */
export function fitted(entry: Entry, session: Session, draw: Draw, bytes: number): string {
  for (let characters = Math.ceil(bytes); ; characters = Math.floor(characters / 2)) {
    const text = draw(entry, session, characters)
    if (Buffer.byteLength(text) <= bytes || characters < 8) return text
  }
}

export function drawJson(entry: Entry, session: Session, characters: number): string {
  const { id, source, sequence, role, at, kind, model, blocks } = entry
  const each = Math.max(1, Math.floor(characters / Math.max(1, blocks.length)))
  const cut = blocks.map((block) => cutBlock(block, each))
  const isCut = cut.some((block, at) => block !== blocks[at])
  return printableJson({
    citation: citation(session.id, entry),
    id,
    source,
    sequence,
    kind,
    role,
    at,
    model,
    blocks: cut,
    ...(isCut && { isCut }),
  })
}

export function createDrawText(utc: boolean): Draw {
  const clock = createClock(utc ? 'UTC' : undefined)
  return (entry, session, characters) => {
    const { role, at, blocks } = entry
    const each = Math.max(1, Math.floor(characters / Math.max(1, blocks.length)))
    const texts = blocks
      .map((block) => visible(cutText(blockText(block), each)).trimEnd())
      .filter((text) => text !== '')
    const heading = `${visibleLine(citation(session.id, entry))}  ${clock.date(at)}  ${role ?? 'event'}`
    return `${heading}\n${texts.join('\n')}\n`
  }
}

function blockText(block: Block): string {
  switch (block.type) {
    case 'text':
      return contentText(block.text)
    case 'thinking':
      return `(thinking) ${contentText(block.text)}`
    case 'tool-call':
      return `→ ${block.name} ${block.input === undefined ? '' : toJson(block.input)}`
    case 'tool-result': {
      const output = Array.isArray(block.output)
        ? block.output.map(blockText).join('\n')
        : contentText(block.output ?? '')
      const failed = block.error ?? (block.isError === true ? 'failed' : undefined)
      return `← ${block.name ?? ''}${failed === undefined ? '' : ` (${failed})`} ${output}`
    }
    case 'error':
      return `error: ${block.message}`
    case 'image':
      return '(image)'
    case 'unknown':
      return ''
  }
}

function contentText(content: Content | readonly Block[]): string {
  return typeof content === 'string' ? content : ''
}

/** The same block with its texts cut; a value whose JSON is too long becomes the beginning of that, as a text. */
function cutBlock(block: Block, characters: number): unknown {
  switch (block.type) {
    case 'text':
    case 'thinking': {
      // A signature proves something to its provider, and tells nobody else anything.
      if (typeof block.text !== 'string') return { type: block.type, text: block.text }
      const isWhole = block.text.length <= characters
      if (isWhole && block.type === 'text') return block
      return { type: block.type, text: cutText(block.text, characters) }
    }
    case 'error':
      return block.message.length <= characters
        ? block
        : { ...block, message: cutText(block.message, characters) }
    case 'tool-call':
      return isShort(block.input, characters)
        ? block
        : { ...block, input: cutText(toJson(block.input), characters) }
    case 'tool-result':
      return isShort(block.output, characters) && (block.error?.length ?? 0) <= characters
        ? block
        : {
            type: block.type,
            callId: block.callId,
            name: block.name,
            isError: block.isError,
            error: block.error === undefined ? undefined : cutText(block.error, characters),
            output: cutText(blockText(block), characters),
          }
    case 'image':
      return { type: 'image' }
    case 'unknown':
      return isShort(block.raw, characters)
        ? block
        : { type: 'unknown', raw: cutText(toJson(block.raw), characters) }
  }
}

function isShort(value: Json | undefined, characters: number): boolean {
  return (
    value === undefined || (typeof value === 'string' ? value.length : toJson(value).length) <= characters
  )
}

/** Who, when and what it came to: no more of the session than a quarter of the budget. */
export function describe(
  session: Session,
  { json, utc }: { readonly json: boolean; readonly utc?: boolean },
  bytes: number,
): string {
  const { id, title, agent, model, cwd, startedAt, endedAt, status, totals } = session
  for (let characters = 400; ; characters = Math.floor(characters / 2)) {
    const cut = (text: string | undefined): string | undefined =>
      text === undefined ? undefined : cutText(text, characters)
    const clock = createClock(utc ? 'UTC' : undefined)
    const about = json
      ? printableJson({
          id,
          title: cut(title),
          agent: cut(agent),
          model: cut(model),
          cwd: cut(cwd),
          startedAt,
          endedAt,
          status,
          totals: characters < 50 ? undefined : totals,
        })
      : `${visibleLine(id)}  ${status}  ${clock.date(startedAt)}  ${visibleLine(cut(title) ?? '')}\n\n`
    if (Buffer.byteLength(about) <= bytes || characters < 8) return about
  }
}
