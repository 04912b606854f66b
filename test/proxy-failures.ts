/** What can go wrong where calls are recorded, by name, and how it is made to. */
import { PARTS, type Parts } from '../src/capture/calls/call-parts.ts'
import { nodeFiles, type Files } from '../src/journal/files.ts'

/** `failed`: how often it has, counted where it does. */
export type BreakingData = { readonly failure: string; readonly failed: Int32Array }

/** One of the recorder's parts, what one of them gives, one of the disk's doings, or what befalls the thread itself. */
export const FAILURES: readonly string[] = (
  'clientOf parseRequest createAnswerReader createConversation record createAnswerReader.push createAnswerReader.end ' +
  'createConversation.ask createConversation.overlap createTapeDeck.begin record.answer record.message record.system ' +
  'record.event record.error record.aside record.subagent record.end openAppend write datasync datasyncLater makeFolder ' +
  'syncFolder rename truncate size list kind identity touch thread.exits thread.throws thread.hangs thread.starts-not'
).split(' ')

/** The options of a recorder in which this fails, every time. */
export function breaking({
  failure,
  failed,
}: BreakingData): { readonly files: Files } | { readonly parts: Parts } {
  const fail = (): never => {
    Atomics.add(failed, 0, 1)
    throw Object.assign(new Error(`${failure} fails`), { code: 'EIO' })
  }
  return failure in nodeFiles
    ? { files: breakingFiles(failure as keyof Files, fail) }
    : { parts: breakingParts(failure, fail) }
}

function breakingFiles(name: keyof Files, fail: () => never): Files {
  // This one says later how it went.
  const later = (_: number, done: (error: Error | null) => void): void => {
    try {
      fail()
    } catch (error) {
      setImmediate(() => done(error as Error))
    }
  }
  return { ...nodeFiles, [name]: name === 'datasyncLater' ? later : fail }
}

/** `part`, or `part.method` of what it gives. */
function breakingParts(failure: string, fail: () => never): Parts {
  const [part = '', method] = failure.split('.')
  if (!(part in PARTS)) return PARTS
  const real = PARTS[part as keyof Parts] as (...given: unknown[]) => unknown
  if (method === undefined) return { ...PARTS, [part]: fail }
  const broken = (made: unknown): unknown => ({ ...(made as object), [method]: fail })
  return {
    ...PARTS,
    [part]: (...given: unknown[]) => {
      const made = real(...given)
      return made instanceof Promise ? made.then(broken) : broken(made)
    },
  }
}
