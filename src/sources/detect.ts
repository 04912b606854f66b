/** Which format some bytes are in, told by the bytes: a name or label is never believed. */
import { HansardError } from '../errors.ts'
import type { Format } from '../formats/format.ts'
import type { Source } from '../transcript/source.ts'
import { describeSource } from './describe.ts'

export type Detected = {
  readonly format: Format
  /** From 0 to 1. */
  readonly confidence: number
  readonly reason: string
}

/** Asks every format; the surest wins, and among equals the first of the list. */
export async function detect(source: Source, formats: readonly Format[]): Promise<Detected | undefined> {
  const answers: Detected[] = []
  for (const format of formats) {
    const answer = await format.detect(source)
    if (answer !== undefined) answers.push({ format, ...answer })
  }
  return answers.sort((a, b) => b.confidence - a.confidence)[0]
}

export type IdentifyOptions = {
  readonly formats: readonly Format[]
  /** The format's id, where the user says it: nothing is detected then. */
  readonly format?: string
}

/** The format of a source, named by the user or detected. Throws `unknown-format`, saying what the source looks like. */
export async function identify(
  source: Source,
  { formats, format: named }: IdentifyOptions,
): Promise<Detected> {
  if (named !== undefined) {
    return { format: getFormat(named, formats), confidence: 1, reason: 'named by --format' }
  }
  const detected = await detect(source, formats)
  if (detected !== undefined) return detected
  const tried = formats.filter(({ id }) => id !== 'raw').map(({ id }) => id)
  const looks = await describeSource(source)
  throw new HansardError('unknown-format', `${source.path} is in no format known here: it is ${looks}`, {
    hint: `tried ${tried.join(', ')}; if it is one of these, name it with --format; --format raw takes it as it is`,
  })
}

export function getFormat(id: string, formats: readonly Format[]): Format {
  const format = formats.find((format) => format.id === id)
  if (format !== undefined) return format
  throw new HansardError('unknown-format', `there is no format called ${id}`, {
    hint: `use one of ${formats.map(({ id }) => id).join(', ')}; hansard formats says what they are`,
  })
}
