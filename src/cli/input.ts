/** What a command reads, however it was named: a file, a folder, or a session of the archive. */
import fs from 'node:fs'
import { HansardError } from '../errors.ts'
import type { ReadItem } from '../formats/format.ts'
import { isAmbiguous, type Detected } from '../sources/detect.ts'
import { allFormats } from '../sources/formats.ts'
import { openDetected } from '../sources/open-detected.ts'
import { readItems } from '../sources/read.ts'
import { survey, type Survey, type Surveyed } from '../sources/survey.ts'
import { isSafeId } from '../transcript/ids.ts'
import { note } from './print.ts'

export type Input = {
  readonly name: string
  /** Every call reads anew, from the start. */
  read(): AsyncIterable<readonly ReadItem[]>
  /** The same, with large content left where it is: for a first look. */
  outline(): AsyncIterable<readonly ReadItem[]>
  /** For who opens it again and again. */
  close?(): void
}

type Options = {
  readonly format?: string
  readonly home?: string
  /** Kept sessions as they are, with the secrets in them. */
  readonly raw?: boolean
}

/** A path that is there wins over a session's id; `not-found` when it is neither. */
export async function openInput(named: string, { format, ...archive }: Options): Promise<Input> {
  if (!isPath(named)) {
    const recorded = await openRecorded(named, archive)
    if (format === undefined) return recorded
    recorded.close?.()
    throw new HansardError(
      'invalid-argument',
      `${named} is a session of the archive, whose format is known: --format ${shorten(format)} is for files and folders`,
      { hint: 'leave --format out' },
    )
  }
  const { detected, open } = await openDetected(named, { formats: allFormats, ...(format && { format }) })
  noteRunnerUp(named, detected)
  const read = async function* (): AsyncGenerator<readonly ReadItem[]> {
    yield* readItems(await open(), detected.format)
  }
  return { name: named, read, outline: read }
}

/** Or meant as one. */
export function isPath(named: string): boolean {
  return fs.existsSync(named) || named.includes('/')
}

/** Whoever reads a wrong answer should know that there was another. */
function noteRunnerUp(named: string, detected: Detected): void {
  const { format, confidence, runnerUp } = detected
  if (runnerUp === undefined || !isAmbiguous(detected)) return
  const other = runnerUp.format.id
  note(
    `hansard: ${shorten(named)} is read as ${format.id} (${confidence}); ${other} comes close (${runnerUp.confidence}): --format ${other} reads it so`,
  )
}

async function openRecorded(named: string, archive: Omit<Options, 'format'>): Promise<Input> {
  if (isSafeId(named)) return (await import('./recorded.ts')).openRecorded(named, archive)
  throw new HansardError(
    'not-found',
    `there is no file or folder ${shorten(named)}, and no session's id is like that`,
    { hint: 'check the path; hansard list shows the sessions there are' },
  )
}

/** The sessions a command is to work on: the one chosen, or all there are. */
export async function surveyInput(input: Input, chosen: string | undefined): Promise<Survey> {
  const found = await survey(input.outline())
  if (found.sessions.length === 0) {
    const [first] = found.damage
    throw new HansardError('not-a-transcript', `${input.name} holds no session`, {
      ...(first && { hint: `${first.file}: ${first.reason}` }),
    })
  }
  if (chosen === undefined) return found
  return { ...found, sessions: [choose(found.sessions, chosen, input.name)] }
}

function choose(sessions: readonly Surveyed[], chosen: string, name: string): Surveyed {
  const matches = sessions.filter(({ session }) => session.id === chosen)
  const close = matches.length > 0 ? matches : sessions.filter(({ session }) => session.id.startsWith(chosen))
  const [one] = close
  if (one !== undefined && close.length === 1) return one
  if (one === undefined) {
    throw new HansardError('session-not-found', `${name} holds no session ${shorten(chosen)}`, {
      hint: `it holds ${nameSome(sessions)}`,
    })
  }
  throw new HansardError('ambiguous-id', `${close.length} sessions begin with ${chosen}`, {
    hint: `give more of the id: ${nameSome(close)}`,
  })
}

/** A few ids, for a hint. */
export function nameSome(sessions: readonly Surveyed[], limit = 10): string {
  const ids = sessions.slice(0, limit).map(({ session }) => session.id)
  return `${ids.join(', ')}${sessions.length > limit ? `, and ${sessions.length - limit} more` : ''}`
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
