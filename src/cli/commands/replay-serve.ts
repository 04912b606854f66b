/**
 * `hansard replay ID --serve [-- CMD…]`: a provider on this machine that answers from a recording, alone until it is told to stop, or
 * for as long as a program runs that is told to ask it.
 */
import { counted } from '../../transcript/counted.ts'
import os from 'node:os'
import { toUpstreams } from '../../capture/proxy/upstreams.ts'
import { HansardError } from '../../errors.ts'
import { openRecording, type Recording } from '../../playback/recording.ts'
import type { ReplayReport } from '../../playback/report.ts'
import { saveReport } from '../../playback/report-file.ts'
import { serveRecording, type ReplayServer, type ServeOptions } from '../../playback/server.ts'
import { planRedirection } from '../../sources/redirection.ts'
import { loadConfig } from '../config.ts'
import { runIsolated } from '../isolated.ts'
import { flush, note, out, outJson, printableJson } from '../print.ts'
import { reportLine } from '../replay-lines.ts'
import { exitCodeOf, runProgram, type Ended } from '../run-program.ts'

export type ServeFlags = {
  readonly port?: number
  readonly speed?: 'recorded' | 'full'
  readonly match?: 'exact' | 'normalised' | 'positional'
  readonly repeats?: number
  readonly isolate?: boolean
  readonly home?: string
  readonly json?: boolean
  readonly quiet?: boolean
}

/** A program that goes on asking for what is not there is ended: it would do so for ever. */
const MOST_MISSES = 100

export async function serve(named: string, command: readonly string[], flags: ServeFlags): Promise<void> {
  if (flags.isolate && (await runIsolated(command))) return
  const { home } = await loadConfig(flags)
  const recording = await openRecording(named, home)
  try {
    noteRecording(recording)
    if (command.length === 0) await serveAlone(recording, flags)
    else await serveProgram(recording, command, flags)
  } finally {
    recording.close()
  }
}

export function toServeOptions(flags: ServeFlags): ServeOptions {
  return {
    ...(flags.port !== undefined && { port: flags.port }),
    ...(flags.speed && { speed: flags.speed }),
    ...(flags.match && { loosest: flags.match }),
    ...(flags.repeats !== undefined && { repeats: flags.repeats }),
    roots: [process.cwd(), os.homedir()],
  }
}

/** What the answers are, said before they are given. */
export function noteRecording({ exchanges, sessions, damaged }: Recording): void {
  if (exchanges.length === 0)
    throw new HansardError('not-found', `${sessions[0]?.id ?? 'the session'} has no provider calls`, {
      hint: 'hansard run -- CMD… records them',
    })
  const made = exchanges.filter(({ from }) => from === 'entries').length
  if (made > 0)
    note(
      `hansard: ${made} of ${exchanges.length} answers have no tape: they are made again from the entries, not byte for byte`,
    )
  if (damaged > 0) note(`hansard: cannot be read: ${counted(damaged, 'record')} of the recording`)
}

async function serveAlone(recording: Recording, flags: ServeFlags): Promise<void> {
  const server = await serveRecording(recording, toServeOptions(flags))
  const { url, port } = server
  if (flags.json) await outJson({ url, port, calls: recording.exchanges.length })
  else await out(`${url}\n`)
  // Whoever started it waits for this.
  await flush()
  note(`ANTHROPIC_BASE_URL=${url}/anthropic OPENAI_BASE_URL=${url}/openai/v1; Ctrl-C ends it`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  await server.close()
  finish(recording, server, flags)
}

async function serveProgram(
  recording: Recording,
  command: readonly string[],
  flags: ServeFlags,
): Promise<void> {
  const { ended, server } = await withProgram(recording, command, toServeOptions(flags))
  finish(recording, server, flags)
  process.exitCode = exitCodeOf(ended)
}

/** Runs a program that asks the recording, and ends it where it does not stop asking for what is not there. */
export async function withProgram(
  recording: Recording,
  command: readonly string[],
  options: ServeOptions,
): Promise<{ readonly ended: Ended; readonly server: ReplayServer }> {
  const stop = new AbortController()
  const server: ReplayServer = await serveRecording(recording, {
    ...options,
    onServed: (served) => {
      options.onServed?.(served)
      if (server.log.misses() !== MOST_MISSES) return
      note(`hansard: ${MOST_MISSES} requests that the recording does not have: the program is ended`)
      stop.abort()
    },
  })
  try {
    const plan = planRedirection(toUpstreams([], process.env), process.env, command)
    const { command: told, env } = plan.redirect(server.url)
    return { ended: await runProgram(told, { ...env, HANSARD_REPLAY_URL: server.url }, stop.signal), server }
  } finally {
    await server.close()
  }
}

function finish(recording: Recording, server: ReplayServer, flags: ServeFlags): void {
  const report: ReplayReport = server.report()
  saveReport(recording.archive, report)
  // Standard output is the program's.
  if (flags.json) process.stderr.write(`${printableJson(report)}\n`)
  else if (flags.quiet !== true) note(reportLine(report))
}
