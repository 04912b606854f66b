/**
 * `hansard run -- CMD…`: a program with its provider calls recorded. It gets the terminal, the signals and the exit code as without us;
 * only the addresses of its providers are ours.
 */
import { startProxy } from '../../capture/proxy/proxy.ts'
import type { Umask } from '../../capture/live-formats.ts'
import { toUpstreams } from '../../capture/proxy/upstreams.ts'
import { createRunId } from '../../capture/run.ts'
import { planRedirection } from '../../sources/redirection.ts'
import { areWritten } from '../format-names.ts'
import { loadConfig } from '../config.ts'
import { note, printableJson } from '../print.ts'
import { inArchive, recordedLine, toRecorded } from '../recorded-line.ts'
import { exitCodeOf, runProgram, type Ended } from '../run-program.ts'

export type RunFlags = {
  readonly upstream?: readonly string[]
  readonly format?: readonly string[]
  readonly umask?: Umask
  readonly flow?: string
  readonly step?: string
  readonly run?: string
  readonly title?: string
  readonly home?: string
  readonly quiet?: boolean
  readonly json?: boolean
}

export async function run(command: readonly string[], flags: RunFlags): Promise<void> {
  const { home, formats } = await loadConfig({ ...flags, ...(flags.format && { formats: flags.format }) })
  if (!(await areWritten(formats, flags.json === true))) return
  const { flow, step, title, umask } = flags
  const plan = planRedirection(toUpstreams(flags.upstream, process.env), process.env, command)
  const proxy = await startProxy({
    upstreams: plan.upstreams,
    runId: flags.run ?? createRunId(Date.now()),
    ...(flow !== undefined && { flow }),
    ...(step !== undefined && { step }),
    ...(title !== undefined && { title }),
    ...(home !== undefined && { home }),
    ...(formats && { formats }),
    ...(umask !== undefined && { umask }),
    onFailure: ({ message }) => note(`hansard: ${message}`),
  })
  const redirected = plan.redirect(proxy.url)
  let ended: Ended
  try {
    ended = await runProgram(redirected.command, redirected.env)
  } finally {
    const passed = await proxy.close()
    const sessions = inArchive(home, passed)
    // Standard output is the program's.
    if (flags.json) process.stderr.write(`${printableJson(toRecorded(sessions))}\n`)
    else if (flags.quiet !== true) note(recordedLine(sessions, passed.length))
  }
  process.exitCode = exitCodeOf(ended)
}
