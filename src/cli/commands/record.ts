/**
 * `hansard record`: entries as JSON lines on standard input into a journal, or, with `--from`, what an agent prints as it runs. A bad line
 * is reported and costs only itself.
 */
import { counted } from '../../transcript/counted.ts'
import { record as startRecording, type RecordOptions, type Recorder } from '../../capture/record.ts'
import type { OpenSession, StreamName } from '../../capture/streams/stream.ts'
import { visibleLine } from '../../replay/escape.ts'
import { parseJson } from '../../transcript/json.ts'
import { readLines, type Line } from '../../transcript/lines.ts'
import { areWritten } from '../format-names.ts'
import { loadConfig } from '../config.ts'
import { FAILED, note, out, outJson } from '../print.ts'
import { takeLine, type Ended } from '../record-line.ts'

export type RecordFlags = {
  readonly format?: readonly string[]
  readonly out?: string
  readonly run?: string
  /** What the input is, where it is an agent's own. */
  readonly from?: StreamName
  /** The input goes on to standard output, as it is. */
  readonly tee?: boolean
  readonly home?: string
  readonly json?: boolean
} & Pick<
  RecordOptions,
  | 'flow'
  | 'step'
  | 'node'
  | 'identifier'
  | 'agentKey'
  | 'engine'
  | 'thread'
  | 'chat'
  | 'mode'
  | 'agent'
  | 'model'
  | 'title'
  | 'stub'
  | 'stepRole'
  | 'umask'
>

/** How many bad lines are told of one by one. */
const TOLD = 100

export async function record(flags: RecordFlags): Promise<void> {
  const { format, out: cwd, run, from, tee, home: _, json, ...identity } = flags
  const { home, formats } = await loadConfig({ ...flags, ...(format && { formats: format }) })
  if (!(await areWritten(formats, json === true))) return
  const failures: string[] = []
  const open: OpenSession = (said) =>
    startRecording({
      ...said,
      ...identity,
      // However deep they are, a stream has said them.
      ...(from && { capture: { subagents: 'all' } }),
      ...(run !== undefined && { runId: run }),
      ...(cwd !== undefined && { cwd }),
      ...(home !== undefined && { home }),
      ...(formats && { formats }),
      onFailure({ message, hint }) {
        failures.push(message)
        note(`hansard: ${message}`)
        if (hint !== undefined) note(`  ${hint}`)
      },
    })
  if (from !== undefined) {
    const { recordStream } = await import('../record-stream.ts')
    return recordStream(from, open, { tee: tee === true, json: json === true, failures })
  }
  const session = await open({})
  if (process.stdin.isTTY) note('one JSON object a line; Ctrl-D ends the session')
  const { taken, bad, altered, ended } = await takeAll(session, process.stdin)
  const last = await finish(session, ended)
  if (bad > 0 || altered > 0 || failures.length > 0) process.exitCode = FAILED
  if (json) {
    return outJson({
      session: last.id,
      status: last.status,
      lines: taken,
      badLines: bad,
      totals: last.totals,
      ...(failures.length > 0 && { failures }),
    })
  }
  await out(`${visibleLine(last.id)}\n`)
}

type Count = {
  readonly taken: number
  readonly bad: number
  /** Of those taken: lines whose bytes are no UTF-8. */
  readonly altered: number
  readonly ended: Ended | undefined
}

async function takeAll(session: Recorder, input: AsyncIterable<Buffer>): Promise<Count> {
  let taken = 0
  let bad = 0
  let altered = 0
  let ended: Ended | undefined
  for await (const lines of readLines(input)) {
    for (const line of lines) {
      const problem = ended === undefined ? takeOne(line) : 'it stands after the end of the session'
      if (problem !== undefined) {
        bad += 1
        if (bad <= TOLD) note(`hansard: line ${line.number} is not recorded: ${problem}`)
        continue
      }
      taken += 1
      if (line.isUtf8) continue
      altered += 1
      if (altered <= TOLD) note(`hansard: line ${line.number} is no UTF-8, and is recorded with U+FFFD`)
    }
  }
  if (bad > TOLD) note(`hansard: not recorded: ${counted(bad - TOLD, 'more line')}`)
  return { taken, bad, altered, ended }

  function takeOne(line: Line): string | undefined {
    if (line.text === undefined) return `its ${line.byteLength} bytes are over the limit`
    const answer = takeLine(session, parseJson(line.text))
    if (answer === undefined) return undefined
    if ('problem' in answer) return answer.problem
    ended = answer.ended
    return undefined
  }
}

/** Without a line that says how, the end of the input is the end of the session. */
function finish(session: Recorder, ended: Ended = { status: 'completed' }): ReturnType<Recorder['end']> {
  const { status, error, ...ending } = ended
  if (status === 'failed') return session.fail(error, ending)
  return status === 'canceled' ? session.cancel(error, ending) : session.end(ending)
}
