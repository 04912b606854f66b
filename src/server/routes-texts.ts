/** Texts of entries that are too long to be sent at once: a piece at a time, or as a file. */
import type { Context } from 'hono'
import { HansardError } from '../errors.ts'
import type { TextPiece } from '../search/outline-text.ts'
import { answer, queryOf } from './answers.ts'
import { textQuerySchema, type TextAnswer } from './api.ts'
import type { App, AppContext } from './context.ts'
import { toPosition } from './routes-entries.ts'
import { noEntry, reach, sessionAt } from './session-at.ts'
import { answerStream } from './stream.ts'

/** Characters of a piece. */
const PIECE = 1024 * 1024

type Pieces = (from: number, to: number) => Promise<TextPiece>

export function registerTexts(app: App, context: AppContext): void {
  app.get('/api/v1/sessions/:id/entries/:position/text', async (c) => {
    const { path, from = 0, to = from + PIECE } = queryOf(c, textQuerySchema)
    if (to - from > PIECE)
      throw new HansardError('invalid-argument', `${to - from} characters are too many at once`, {
        hint: `ask for ${PIECE} at most`,
      })
    const pieces = await piecesOf(c, path, context)
    const found: TextAnswer = await pieces(from, to)
    return answer(c, found)
  })

  app.get('/api/v1/sessions/:id/entries/:position/file', async (c) => {
    const { path } = queryOf(c, textQuerySchema)
    const pieces = await piecesOf(c, path, context)
    // What is not there is an error, and no file.
    const first = await pieces(0, PIECE)
    return answerStream(c, allOf(first, pieces), {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="entry-${toPosition(c.req.param('position'))}.txt"`,
    })
  })
}

async function piecesOf(c: Context, path: string, context: AppContext): Promise<Pieces> {
  const at = await sessionAt(c, context)
  const position = toPosition(c.req.param('position') ?? '')
  const { readable, length } = await reach(at, position + 1)
  if (readable === undefined || position >= length) throw noEntry(position)
  const { archive: _, readAll: __, ...outline } = readable
  return async (from, to) => {
    const piece = await context.apart.text({ outline, position, path, from, to })
    if (piece !== undefined) return piece
    throw new HansardError('not-found', `entry ${position} has no such text`, {
      hint: 'paths are those that `cut` of an entry names',
    })
  }
}

async function* allOf(first: TextPiece, pieces: Pieces): AsyncGenerator<string> {
  for (let piece = first; ; piece = await pieces(piece.to, piece.to + PIECE)) {
    yield piece.text
    if (piece.to >= piece.length) return
  }
}
