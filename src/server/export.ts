/** A session's items as the parts of one file: a page, Markdown, plain text, the model itself, or a recording of a terminal. */
import type { ReadItem } from '../formats/format.ts'
import { createHtmlView } from '../replay/html.ts'
import { createMarkdownView } from '../replay/markdown.ts'
import { createAsciicast } from '../replay/playback/asciicast.ts'
import { createTimeline } from '../replay/playback/timeline.ts'
import { isNoise, type View } from '../replay/view.ts'
import { visibleJson } from '../replay/escape.ts'
import { createTranscriptView } from '../sources/transcript-text.ts'
import type { Damage } from '../transcript/damage.ts'
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

export async function* exportSession(
  as: Drawn | 'json' | 'asciicast',
  exported: Exported,
): AsyncGenerator<string> {
  let text = ''
  for await (const part of partsOf(as, exported)) {
    text += part
    if (text.length < PART_LENGTH) continue
    yield text
    text = ''
  }
  yield text
}

function partsOf(as: Drawn | 'json' | 'asciicast', exported: Exported): AsyncGenerator<string> {
  if (as === 'json') return toJsonParts(exported)
  return as === 'asciicast' ? toCastParts(exported) : toViewParts(as, exported)
}

type Drawn = 'html' | 'md' | 'text'

/** What stands between two sessions, and how many had no room. */
const BETWEEN: { readonly [As in Drawn]: string } = { html: '<hr>\n', md: '\n---\n\n', text: '\n---\n\n' }
const LEFT_OUT: { readonly [As in Drawn]: (count: number) => string } = {
  html: (count) => `<p>${count} more that it started are not in this file.</p>\n`,
  md: (count) => `\n---\n\n*${count} more that it started are not in this file.*\n`,
  text: (count) => `\n---\n\n${count} more that it started are not in this file.\n`,
}

async function* toViewParts(as: Drawn, exported: Exported): AsyncGenerator<string> {
  const { session, started, timeZone } = exported
  const { page } = createView(as, timeZone)
  yield page?.open(session) ?? ''
  yield* sessionParts(as, exported, timeZone)
  let leftOut = 0
  for await (const one of started ?? []) {
    if (one === undefined) leftOut += 1
    else {
      yield BETWEEN[as]
      yield* sessionParts(as, one, timeZone)
    }
  }
  if (leftOut > 0) yield LEFT_OUT[as](leftOut)
  yield page?.close() ?? ''
}

const createView = (as: Drawn, timeZone: string | undefined): View => {
  const options = timeZone === undefined ? {} : { timeZone }
  if (as === 'text') return createTranscriptView(options)
  return as === 'html' ? createHtmlView(options) : createMarkdownView(options)
}

async function* sessionParts(
  as: Drawn,
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

/** What people see when they play it back, in the time that it took. */
async function* toCastParts({ session, items, timeZone }: Exported): AsyncGenerator<string> {
  const cast = createAsciicast()
  const view = createTranscriptView(timeZone === undefined ? {} : { timeZone })
  const next = createTimeline({ speed: 1, idleMs: Infinity })
  yield cast.begin(session)
  for await (const some of items)
    for (const item of some)
      if (item.type === 'entry' && !isNoise(item.entry))
        yield cast.frame(next(item.entry), view.entry(item.entry))
  yield cast.end(session)
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
