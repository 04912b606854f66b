/** `hansard record --from`: what an agent prints is recorded on its way through. The sessions' ids go where the stream does not. */
import { takeStream } from '../capture/streams/take-stream.ts'
import type { OpenSession, StreamName } from '../capture/streams/stream.ts'
import { systemCode } from '../errors.ts'
import { visibleLine } from '../replay/escape.ts'
import { FAILED, note, out, printableJson } from './print.ts'

type Options = { readonly tee: boolean; readonly json: boolean; readonly failures: readonly string[] }

export async function recordStream(
  from: StreamName,
  open: OpenSession,
  { tee, json, failures }: Options,
): Promise<void> {
  if (process.stdin.isTTY) note(`what ${from} prints, a line at a time; Ctrl-D ends it`)
  const { sessions, lines, damaged } = await takeStream(from, process.stdin, {
    open,
    ...(tee && { pass: createPass() }),
  })
  if (damaged > 0) note(`hansard: ${damaged} of ${lines} lines could not be read, and are recorded as damage`)
  if (damaged > 0 || failures.length > 0) process.exitCode = FAILED
  const said = {
    sessions: sessions.map(({ id, status, totals, reportedCost }) => ({
      session: id,
      status,
      totals,
      ...(reportedCost !== undefined && { reportedCost }),
    })),
    lines,
    badLines: damaged,
    ...(failures.length > 0 && { failures }),
  }
  const text = json ? printableJson(said) : sessions.map(({ id }) => visibleLine(id)).join('\n')
  if (tee) note(text)
  else await out(`${text}\n`)
}

/** To whoever reads on. One who has gone away stops nothing: what comes is still recorded. */
function createPass(): (chunk: Buffer) => Promise<void> {
  let isOpen = true
  process.stdout.on('error', (error) => {
    if (systemCode(error) !== 'EPIPE') note(`hansard: the stream is not passed on: ${error.message}`)
    isOpen = false
  })
  return async (chunk) => {
    if (!isOpen || process.stdout.write(chunk)) return
    await new Promise<void>((done) => {
      const go = (): void => {
        process.stdout.off('drain', go).off('error', go).off('close', go)
        done()
      }
      process.stdout.on('drain', go).on('error', go).on('close', go)
    })
  }
}
