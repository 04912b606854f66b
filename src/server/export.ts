/** A session's items as the parts of one file: a page, Markdown, or the model itself. */
import type { ReadItem } from '../formats/format.ts'
import { createHtmlView } from '../replay/html.ts'
import { createMarkdownView } from '../replay/markdown.ts'
import type { View } from '../replay/view.ts'
import { visibleJson } from '../replay/escape.ts'
import type { Damage } from '../transcript/damage.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'

export type Exported = {
  /** As the list knows it. */
  readonly session: Session
  /** Without secrets. */
  readonly items: AsyncIterable<readonly ReadItem[]>
  /** The sessions that it started; undefined for each that is left out. */
  readonly started?: AsyncIterable<Exported | undefined>
  readonly timeZone?: string
}

const PART_LENGTH = 64 * 1024
const MOST_DAMAGE = 1000

export async function* exportSession(as: 'html' | 'md' | 'json', exported: Exported): AsyncGenerator<string> {
  let text = ''
  for await (const part of as === 'json' ? toJsonParts(exported) : toViewParts(as, exported)) {
    text += part
    if (text.length < PART_LENGTH) continue
    yield text
    text = ''
  }
  yield text
}

async function* toViewParts(as: 'html' | 'md', exported: Exported): AsyncGenerator<string> {
  const { session, started, timeZone } = exported
  const { page } = createView(as, timeZone)
  yield page?.open(session) ?? ''
  yield* sessionParts(as, exported, timeZone)
  let leftOut = 0
  for await (const one of started ?? []) {
    if (one === undefined) leftOut += 1
    else {
      yield as === 'md' ? '\n---\n\n' : '<hr>\n'
      yield* sessionParts(as, one, timeZone)
    }
  }
  if (leftOut > 0 && as === 'md') yield `\n---\n\n*${leftOut} more that it started are not in this file.*\n`
  if (leftOut > 0 && as === 'html') yield `<p>${leftOut} more that it started are not in this file.</p>\n`
  yield page?.close() ?? ''
}

const createView = (as: 'html' | 'md', timeZone: string | undefined): View => {
  const options = timeZone === undefined ? {} : { timeZone }
  return as === 'html' ? createHtmlView(options) : createMarkdownView(options)
}

async function* sessionParts(
  as: 'html' | 'md',
  { session, items }: Exported,
  timeZone: string | undefined,
): AsyncGenerator<string> {
  const view = createView(as, timeZone)
  yield view.begin(session)
  for await (const some of items) {
    for (const item of some) {
      if (item.type === 'entry' && !isNoise(item.entry)) yield view.entry(item.entry)
      else if (item.type === 'damage') yield view.damage?.(item.damage) ?? ''
    }
  }
  yield view.end()
}

/** Bookkeeping of the agent's program. */
function isNoise({ kind, blocks }: Entry): boolean {
  return kind === 'event' && blocks.every((block) => block.type === 'unknown')
}

async function* toJsonParts({ started, ...exported }: Exported): AsyncGenerator<string> {
  yield* documentParts(exported)
  let leftOut = 0
  let gap = ',"started":['
  for await (const one of started ?? []) {
    if (one === undefined) leftOut += 1
    else {
      yield gap
      yield* documentParts(one)
      yield '}'
      gap = ',\n'
    }
  }
  if (gap === ',\n') yield ']'
  yield `${leftOut > 0 ? `,"startedLeftOut":${leftOut}` : ''}}\n`
}

/** Without its last brace. */
async function* documentParts({ session, items }: Exported): AsyncGenerator<string> {
  const damage: Damage[] = []
  let count = 0
  let gap = '\n'
  yield `{"session":${visibleJson(toJson(session))},"entries":[`
  for await (const some of items) {
    for (const item of some) {
      if (item.type === 'entry') {
        yield `${gap}${visibleJson(toJson(item.entry))}`
        gap = ',\n'
      } else if (item.type === 'damage') {
        count += 1
        if (damage.length < MOST_DAMAGE) damage.push(item.damage)
      }
    }
  }
  const more = count > damage.length ? `,"damageCount":${count}` : ''
  yield `],"damage":${visibleJson(toJson(damage))}${more}`
}
