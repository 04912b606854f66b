/** Turns chosen by devflow's modes and handed to whatever draws them: the terminal, Markdown, HTML. */
import { HansardError } from '../errors.ts'
import type { Session } from '../transcript/session.ts'
import { toText } from './content.ts'
import { cut, visibleLine } from './escape.ts'
import { createTurnFold, type ShownTurn } from './turns.ts'
import type { View, ViewOptions } from './view.ts'

/** Gives text for each part; all of it escaped for where it goes. */
export type Drawing = {
  begin(session: Session): string
  turn(turn: ShownTurn): string
  /** One line for a turn: `line` is its first words. */
  summary(turn: ShownTurn, line: string): string
  end(): string
}

const SUMMARY_CHARACTERS = 100

export function createTurnView(drawing: Drawing, { mode = 'full', turn: wanted }: ViewOptions): View {
  if (mode === 'turn' && wanted === undefined) {
    throw new HansardError('invalid-argument', 'mode turn shows one turn, and none is named', {
      hint: 'name it by its number: --turn 3',
    })
  }
  const fold = createTurnFold()
  let turns = 0
  let shown = 0

  const draw = (turn: ShownTurn): string => {
    if (turn.number !== undefined) turns = turn.number
    if (mode === 'summary' && turn.number === undefined) return ''
    if (mode === 'assistant' && turn.role !== 'assistant') return ''
    if (mode === 'turn' && turn.number !== wanted) return ''
    shown += 1
    return mode === 'summary' ? drawing.summary(turn, firstWords(turn)) : drawing.turn(turn)
  }
  const drawAll = (turns: readonly ShownTurn[]): string => turns.map(draw).join('')

  return {
    begin: (session) => drawing.begin(session),
    entry: (entry) => drawAll(fold.add(entry)),
    end() {
      const last = drawAll(fold.end())
      if (mode === 'turn' && shown === 0) {
        throw new HansardError('invalid-argument', `there is no turn ${wanted}: the session has ${turns}`)
      }
      return last + drawing.end()
    },
  }
}

function firstWords({ blocks, calls }: ShownTurn): string {
  // Cut before escaping as well: a turn may hold megabytes, and an escape is longer than what it stands for.
  const said = blocks
    .map((block) => cut(toText(block), SUMMARY_CHARACTERS + 1))
    .join(' ')
    .trim()
  const text = said === '' ? `(${calls.map(({ call }) => call.name).join(', ')})` : said
  return cut(visibleLine(text.replace(/\s+/g, ' ')), SUMMARY_CHARACTERS)
}

/** The name a turn goes by: its role, or what kind of event it is. */
export function roleOf({ role, record }: ShownTurn): string {
  return role ?? (record === undefined || record === '' ? 'event' : record)
}
