/** `hansard show`: a session for people, or the model itself. Read twice, once for what it is and once to draw it. */
import { resolveBlobs } from '../../archive/blobs.ts'
import { HansardError } from '../../errors.ts'
import type { ReadItem } from '../../formats/format.ts'
import { createDevflowView } from '../../replay/devflow-view.ts'
import { createHtmlView } from '../../replay/html.ts'
import { createMarkdownView } from '../../replay/markdown.ts'
import { createTextView } from '../../replay/text.ts'
import type { Mode, View, ViewOptions } from '../../replay/view.ts'
import { onlySession } from '../../sources/read.ts'
import type { Surveyed } from '../../sources/survey.ts'
import type { Entry, Role } from '../../transcript/entry.ts'
import { toJson } from '../../transcript/json.ts'
import { loadConfig } from '../config.ts'
import { reportDamage } from '../damage.ts'
import { nameSome, openInput, surveyInput, type Input } from '../input.ts'
import { note, out } from '../print.ts'

export type ShowOptions = {
  readonly as?: 'text' | 'md' | 'html' | 'json'
  readonly mode?: Mode
  readonly turn?: number
  readonly source?: string
  readonly role?: Role
  readonly events?: boolean
  readonly session?: string
  readonly all?: boolean
  readonly format?: string
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function show(named: string, options: ShowOptions): Promise<void> {
  const as = options.json ? 'json' : (options.as ?? 'text')
  const { home, utc } = await loadConfig(options)
  const input = await openInput(named, {
    ...(options.format && { format: options.format }),
    ...(home && { home }),
  })
  const { sessions, damage } = await surveyInput(input, options.session)
  if (sessions.length > 1 && !options.all) throw several(input, sessions)
  if (as === 'json') await showJson(input, sessions, options)
  else await showViews(input, sessions, as, options, utc ? { timeZone: 'UTC' } : {})
  reportDamage([...damage, ...sessions.flatMap(({ damage }) => damage)])
}

function several(input: Input, sessions: readonly Surveyed[]): HansardError {
  return new HansardError('ambiguous-id', `${input.name} holds ${sessions.length} sessions`, {
    hint: `choose one with --session, or --all: ${nameSome(sessions)}`,
  })
}

async function showViews(
  input: Input,
  sessions: readonly Surveyed[],
  as: 'text' | 'md' | 'html',
  { mode, turn, source, role, events }: ShowOptions,
  zone: Pick<ViewOptions, 'timeZone'>,
): Promise<void> {
  const chosen = mode ?? (turn === undefined ? undefined : 'turn')
  const drawing: ViewOptions = {
    ...zone,
    ...(chosen && { mode: chosen }),
    ...(turn !== undefined && { turn }),
  }
  let hidden = 0
  for (const [index, { session, messages }] of sessions.entries()) {
    const view = createView(as, drawing)
    if (index > 0) await out('\n')
    await out(view.begin(session))
    for await (const entry of entriesOf(input, session.id, { source, role })) {
      if (events || messages === 0 || !isNoise(entry)) await out(view.entry(entry))
      else hidden += 1
    }
    await out(view.end())
  }
  if (hidden > 0) note(`hansard: ${hidden} records that are no messages are not shown; --events shows them`)
}

/** Bookkeeping of the agent's program. In a source of nothing else, it is all there is to show. */
function isNoise({ kind, blocks }: Entry): boolean {
  return kind === 'event' && blocks.every((block) => block.type === 'unknown')
}

/** Without a mode, text is weakincentives' `format_transcript`; with one, devflow's view. */
function createView(as: 'text' | 'md' | 'html', options: ViewOptions): View {
  if (as === 'md') return createMarkdownView(options)
  if (as === 'html') return createHtmlView(options)
  return options.mode === undefined ? createTextView(options) : createDevflowView(options)
}

async function showJson(
  input: Input,
  sessions: readonly Surveyed[],
  { mode, turn, source, role, all }: ShowOptions,
): Promise<void> {
  if (mode !== undefined || turn !== undefined) {
    throw new HansardError(
      'invalid-argument',
      '--mode and --turn choose how text is drawn, and JSON is not drawn',
      {
        hint: 'choose entries with --role and --source',
      },
    )
  }
  if (all) await out('{"sessions":[')
  for (const [index, { session, damage }] of sessions.entries()) {
    if (index > 0) await out(',\n')
    await out(`{"session":${toJson(session)},"entries":[`)
    let gap = '\n'
    for await (const entry of entriesOf(input, session.id, { source, role })) {
      await out(`${gap}${toJson(entry)}`)
      gap = ',\n'
    }
    await out(`],"damage":${toJson(damage)}}`)
  }
  await out(all ? ']}\n' : '\n')
}

type Filter = { readonly source: string | undefined; readonly role: Role | undefined }

async function* entriesOf(input: Input, id: string, { source, role }: Filter): AsyncGenerator<Entry> {
  for await (const batch of onlySession(input.read(), id)) {
    for (const item of batch) {
      if (!isWanted(item, source, role)) continue
      yield input.blobs === undefined ? item.entry : await resolveBlobs(item.entry, input.blobs)
    }
  }
}

function isWanted(
  item: ReadItem,
  source: string | undefined,
  role: Role | undefined,
): item is Extract<ReadItem, { type: 'entry' }> {
  if (item.type !== 'entry') return false
  if (source !== undefined && item.entry.source !== source) return false
  return role === undefined || item.entry.role === role
}
