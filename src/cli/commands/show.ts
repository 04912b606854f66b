/** `hansard show`: a session for people, or the model itself. Read twice, once for what it is and once to draw it. */
import { counted } from '../../transcript/counted.ts'
import fs from 'node:fs'
import { HansardError } from '../../errors.ts'
import { createDevflowView } from '../../replay/devflow-view.ts'
import { visibleLine } from '../../replay/escape.ts'
import { createHtmlView } from '../../replay/html.ts'
import { createMarkdownView } from '../../replay/markdown.ts'
import { isNoise, type Mode, type View, type ViewOptions } from '../../replay/view.ts'
import { readBySession } from '../../sources/read.ts'
import type { Survey, Surveyed } from '../../sources/survey.ts'
import { createTranscriptView } from '../../sources/transcript-text.ts'
import { parseCitation, type Citation, type Entry, type Role } from '../../transcript/entry.ts'
import { hasLongText } from '../../transcript/long-spelling.ts'
import type { Session } from '../../transcript/session.ts'
import { loadConfig } from '../config.ts'
import { createDamageLog, reportDamage, type DamageLog } from '../damage.ts'
import { areFormats } from '../format-names.ts'
import { nameSome, openInput, surveyInput, type Input } from '../input.ts'
import { FAILED, note, out, printableJson, printablePieces } from '../print.ts'

export type ShowOptions = {
  readonly as?: 'text' | 'md' | 'html' | 'json'
  readonly mode?: Mode
  readonly turn?: number
  readonly source?: string
  readonly role?: Role
  /** Entries before and after the one that was cited. */
  readonly context?: number
  readonly events?: boolean
  readonly session?: string
  readonly all?: boolean
  readonly format?: string
  readonly utc?: boolean
  readonly home?: string
  readonly raw?: boolean
  readonly json?: boolean
  /** The most telling entries that fit so many tokens. */
  readonly budgetTokens?: number
  /** With a budget: entries that match come first. */
  readonly query?: string
  /** Seconds: what was read until then is shown. */
  readonly timeout?: number
}

export async function show(named: string, options: ShowOptions): Promise<void> {
  const isJson = options.json === true || options.as === 'json'
  if (options.format !== undefined && !(await areFormats([options.format], isJson))) return
  const { home, utc } = await loadConfig(options)
  const deadline =
    options.timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + options.timeout * 1000
  const cited = fs.existsSync(named) ? undefined : parseCitation(named)
  let hasStopped = false
  const isLate = (): boolean => {
    hasStopped ||= Date.now() >= deadline
    return hasStopped
  }
  const opened = await openInput(cited?.session ?? named, {
    ...(options.format && { format: options.format }),
    ...(home && { home }),
    ...(options.raw && { raw: true }),
  })
  const input = endingBy(opened, isLate)
  const survey = await surveyInput(input, options.session)
  if (survey.sessions.length > 1 && !options.all) throw several(input, survey.sessions)
  const as = options.json ? 'json' : (options.as ?? 'text')
  const drawn =
    options.budgetTokens !== undefined || options.query !== undefined
      ? (await import('./show-budget.ts')).drawBudget(as, options, utc, () => hasStopped)
      : as === 'json'
        ? drawJson(options, () => hasStopped)
        : drawViews(as, options, survey, utc)
  const damage = createDamageLog(survey.damage)
  const wanted = cited === undefined ? undefined : near(cited, options.context ?? CONTEXT)
  const hasFound = await draw(drawn, input, survey, { ...options, damage, wanted })
  if (hasStopped) note('hansard: the time was up before all of it was read')
  else if (cited !== undefined && !hasFound) {
    process.exitCode = FAILED
    note(`hansard: ${input.name} has no entry ${named.slice(named.indexOf('#'))}`)
  }
  reportDamage(damage)
}

/** Read no further than the deadline, but for the beginning, which says what session it is. */
function endingBy(input: Input, isLate: () => boolean): Input {
  const bounded = async function* <T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    let isFirst = true
    for await (const some of items) {
      if (!isFirst && isLate()) return
      isFirst = false
      yield some
    }
  }
  return { ...input, read: () => bounded(input.read()), outline: () => bounded(input.outline()) }
}

function several(input: Input, sessions: readonly Surveyed[]): HansardError {
  return new HansardError('ambiguous-id', `${input.name} holds ${sessions.length} sessions`, {
    hint: `choose one with --session, or --all: ${nameSome(sessions)}`,
  })
}

/** What is printed of each part, in order. */
export type Drawn = {
  begin(surveyed: Surveyed, at: number): string
  /** In pieces: it may be long. */
  entry(entry: Entry): Iterable<string>
  end(damage: DamageLog): string
  close(): string
}

/** Shown around an entry that was cited: what it answers, and what became of it. */
const CONTEXT = 2

function near({ source, sequence }: Citation, context: number): (entry: Entry) => boolean {
  return (entry) => entry.source === source && Math.abs(entry.sequence - sequence) <= context
}

type DrawOptions = Pick<ShowOptions, 'source' | 'role'> & {
  readonly damage: DamageLog
  readonly wanted: ((entry: Entry) => boolean) | undefined
}

/** Takes the sessions one after the other, and notes the damage met. True when anything was drawn. */
async function draw(
  drawn: Drawn,
  input: Input,
  { sessions, isInterleaved }: Survey,
  { source, role, damage, wanted = () => true }: DrawOptions,
): Promise<boolean> {
  let hasDrawn = false
  let own = createDamageLog()
  let at = -1
  /** Also past sessions that have nothing to show. */
  const goTo = async (next: number): Promise<void> => {
    while (at < next) {
      if (at >= 0) await out(drawn.end(own))
      own = createDamageLog()
      at += 1
      const surveyed = sessions[at]
      if (surveyed !== undefined) await out(drawn.begin(surveyed, at))
    }
  }
  const ids = sessions.map(({ session }) => session.id)
  for await (const { id, items } of readBySession(() => input.read(), ids, isInterleaved)) {
    await goTo(ids.indexOf(id))
    for (const item of items) {
      if (item.type === 'damage') {
        own.add(item.damage)
        damage.add(item.damage)
      } else if (item.type === 'entry' && wanted(item.entry) && isWanted(item.entry, source, role)) {
        await outEntry(drawn, item.entry)
        hasDrawn = true
      }
    }
  }
  await goTo(sessions.length)
  await out(drawn.close())
  return hasDrawn
}

/** Characters of a text that is drawn in no more memory than it needs: V8 would wait until there is twice as much. */
const LONG = 1024 * 1024

async function outEntry(drawn: Drawn, entry: Entry): Promise<void> {
  const letGo = hasLongText(entry, LONG)
    ? (await import('../../sources/one-at-a-time.ts')).collect
    : undefined
  // Of reading it, and then of drawing it.
  letGo?.()
  for (const piece of drawn.entry(entry)) await out(piece)
  letGo?.()
}

function isWanted(entry: Entry, source: string | undefined, role: Role | undefined): boolean {
  return (source === undefined || entry.source === source) && (role === undefined || entry.role === role)
}

function drawViews(
  as: 'text' | 'md' | 'html',
  { mode, turn, events }: ShowOptions,
  { sessions }: Survey,
  utc = false,
): Drawn {
  const chosen = mode ?? (turn === undefined ? undefined : 'turn')
  const options: ViewOptions = {
    ...(utc && { timeZone: 'UTC' }),
    ...(chosen && { mode: chosen }),
    ...(turn !== undefined && { turn }),
  }
  const isPlain = as === 'text' && chosen === undefined
  let view = createView(as, options)
  let hasMessages = false
  let hidden = 0
  return {
    begin({ session, messages }, at) {
      const opened = at === 0 ? (view.page?.open(session) ?? '') : '\n'
      view = createView(as, options)
      hasMessages = messages > 0
      return `${opened}${isPlain && sessions.length > 1 ? heading(session) : ''}${view.begin(session)}`
    },
    entry(entry) {
      if (events || !hasMessages || !isNoise(entry)) return [view.entry(entry)]
      hidden += 1
      return []
    },
    end: () => view.end(),
    close() {
      if (hidden > 0)
        note(`hansard: not shown: ${counted(hidden, 'record')} of no message; --events shows them`)
      return view.page?.close() ?? ''
    },
  }
}

/** Without a mode, text is weakincentives' `format_transcript`; with one, devflow's view. */
function createView(as: 'text' | 'md' | 'html', options: ViewOptions): View {
  if (as === 'md') return createMarkdownView(options)
  if (as === 'html') return createHtmlView(options)
  return options.mode === undefined ? createTranscriptView(options) : createDevflowView(options)
}

/** Plain text has no header of its own, and several sessions would run into each other. */
function heading({ id, title }: Session): string {
  return `── ${visibleLine(title === undefined ? id : `${id} ${title}`)} ──\n\n`
}

function drawJson({ mode, turn, all }: ShowOptions, isPartial: () => boolean): Drawn {
  if (mode !== undefined || turn !== undefined) {
    throw new HansardError(
      'invalid-argument',
      '--mode and --turn choose how text is drawn, and JSON is not drawn',
      { hint: 'choose entries with --role and --source' },
    )
  }
  let gap = '\n'
  return {
    begin({ session }, at) {
      gap = '\n'
      const opened = at > 0 ? ',\n' : all ? '{"sessions":[' : ''
      return `${opened}{"session":${printableJson(session)},"entries":[`
    },
    *entry(entry) {
      yield gap
      yield* printablePieces(entry)
      gap = ',\n'
    },
    end(damage) {
      const more = damage.count() > damage.kept().length ? `,"damageCount":${damage.count()}` : ''
      const partial = isPartial() ? ',"isPartial":true' : ''
      return `],"damage":${printableJson(damage.kept())}${more}${partial}}`
    },
    close: () => (all ? ']}\n' : '\n'),
  }
}
