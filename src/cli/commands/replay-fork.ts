/**
 * `hansard replay ID --from CITATION -- CMD…`: recorded answers up to an entry, then live, through the recorder, as a new session that
 * names where it comes from.
 */
import { startProxy } from '../../capture/proxy/proxy.ts'
import { toUpstreams } from '../../capture/proxy/upstreams.ts'
import { createRunId } from '../../capture/run.ts'
import { HansardError } from '../../errors.ts'
import { findForkPoint, forwardTo, type ForkPoint } from '../../playback/fork.ts'
import type { Edits } from '../../playback/fork-edits.ts'
import { openRecording } from '../../playback/recording.ts'
import { saveReport } from '../../playback/report-file.ts'
import { planRedirection } from '../../sources/redirection.ts'
import { parseCitation, type Citation } from '../../transcript/entry.ts'
import { loadConfig } from '../config.ts'
import { note, printableJson } from '../print.ts'
import { recordedLine, toRecorded } from '../recorded-line.ts'
import { reportLine } from '../replay-lines.ts'
import { exitCodeOf } from '../run-program.ts'
import { toServeOptions, withProgram, type ServeFlags } from './replay-serve.ts'

export type ForkFlags = ServeFlags & {
  readonly from?: string
  readonly setModel?: string
  readonly editPrompt?: string
  readonly editResult?: string
  readonly upstream?: readonly string[]
}

export async function fork(named: string, command: readonly string[], flags: ForkFlags): Promise<void> {
  if (command.length === 0)
    throw new HansardError('invalid-argument', 'there is no program to go on with', {
      hint: 'hansard replay ID --from 12 -- CMD…',
    })
  const { home } = await loadConfig(flags)
  const at = toCitation(named, flags.from ?? '')
  const recording = await openRecording(at.session, home)
  try {
    const point = await findForkPoint(recording, at)
    const edits = toEdits(flags, point)
    const { upstreams } = planRedirection(toUpstreams(flags.upstream, process.env), process.env, command)
    const proxy = await startProxy({
      upstreams,
      runId: createRunId(Date.now()),
      parent: { session: point.session, citation: point.citation, relation: 'fork' },
      ...(home !== undefined && { home }),
      onFailure: ({ message }) => note(`hansard: ${message}`),
    })
    const options = {
      ...toServeOptions(flags),
      fork: { keeps: point.keeps, forward: forwardTo(proxy.url, point, edits) },
    }
    let ran: Awaited<ReturnType<typeof withProgram>>
    try {
      ran = await withProgram(recording, command, options)
    } finally {
      const sessions = await proxy.close()
      // Standard output is the program's.
      if (flags.json)
        process.stderr.write(`${printableJson({ forkedFrom: point.citation, ...toRecorded(sessions) })}\n`)
      else if (flags.quiet !== true) note(recordedLine(sessions))
    }
    const { ended, server } = ran
    saveReport(recording.archive, server.report())
    if (flags.json !== true && flags.quiet !== true) note(reportLine(server.report()))
    process.exitCode = exitCodeOf(ended)
  } finally {
    recording.close()
  }
}

/** A whole citation, or with the session named before it only its end: `12`, `#12`, `subagent:x/12`. */
function toCitation(named: string, from: string): Citation {
  const whole = from.includes('#') && !from.startsWith('#') ? from : `${named}#${from.replace(/^#/, '')}`
  const cited = parseCitation(whole)
  if (cited !== undefined) return cited
  throw new HansardError('invalid-argument', `${from} is no entry of a session`, {
    hint: 'an entry is cited as SESSION#12, or as SESSION#subagent:x/12',
  })
}

/** What is to be edited is what the entry has. */
function toEdits(
  { setModel, editPrompt, editResult }: ForkFlags,
  { text, callId, citation }: ForkPoint,
): Edits {
  const lacks = (what: string): HansardError =>
    new HansardError('invalid-argument', `${citation} has no ${what} to edit`, {
      hint: '--from names the entry of the prompt, or of the result, that is to be another',
    })
  if (editPrompt !== undefined && text === undefined) throw lacks('words')
  if (editResult !== undefined && callId === undefined) throw lacks('result of a tool')
  return {
    ...(setModel !== undefined && { model: setModel }),
    ...(editPrompt !== undefined && { prompt: editPrompt }),
    ...(editResult !== undefined && { result: editResult }),
  }
}
