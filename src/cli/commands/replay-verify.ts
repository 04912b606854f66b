/**
 * `hansard replay ID --verify -- CMD…`: does a program still behave as it was recorded? Ends with 1 where it does not, and says where it
 * first parts from the recording, and whose doing that is.
 */
import { counted } from '../../transcript/counted.ts'
import { writeFileSync } from 'node:fs'
import { toUpstreams } from '../../capture/proxy/upstreams.ts'
import { fromSystemError, HansardError } from '../../errors.ts'
import { toJunit } from '../../playback/junit.ts'
import { differenceLine } from '../../playback/miss.ts'
import { openRecording } from '../../playback/recording.ts'
import { saveReport } from '../../playback/report-file.ts'
import { verdictOf, type Divergence, type Verdict } from '../../playback/verify.ts'
import { planRedirection } from '../../sources/redirection.ts'
import { loadConfig } from '../config.ts'
import { runIsolated } from '../isolated.ts'
import { createLiveProvider } from '../live-provider.ts'
import { FAILED, note, printableJson } from '../print.ts'
import { exitCodeOf } from '../run-program.ts'
import { noteRecording, toServeOptions, withProgram, type ServeFlags } from './replay-serve.ts'

export type VerifyFlags = ServeFlags & {
  readonly junit?: string
  readonly live?: boolean
  readonly upstream?: readonly string[]
}

export async function verify(named: string, command: readonly string[], flags: VerifyFlags): Promise<void> {
  if (command.length === 0)
    throw new HansardError('invalid-argument', 'there is no program to verify', {
      hint: 'hansard replay ID --verify -- CMD…',
    })
  if (flags.isolate && (await runIsolated(command))) return
  const { home } = await loadConfig(flags)
  const recording = await openRecording(named, home)
  try {
    noteRecording(recording)
    const plan = planRedirection(toUpstreams(flags.upstream, process.env), process.env, command)
    const provider = flags.live ? createLiveProvider(recording, plan.upstreams) : undefined
    const { ended, server } = await withProgram(recording, command, {
      ...toServeOptions(flags),
      ...(provider && { onAnswered: provider.onAnswered }),
    })
    const report = server.report()
    saveReport(recording.archive, report)
    const exitCode = exitCodeOf(ended)
    const found = await verdictOf(recording, report, {
      unasked: server.unasked(),
      provider: (await provider?.divergences()) ?? [],
    })
    const verdict: Verdict = { ...found, exitCode }
    if (flags.junit !== undefined) writeJunit(flags.junit, verdict)
    if (flags.json) process.stderr.write(`${printableJson(verdict)}\n`)
    else if (flags.quiet !== true) for (const line of verdictLines(verdict)) note(line)
    process.exitCode = verdict.isSame ? exitCode : FAILED
  } finally {
    recording.close()
  }
}

function writeJunit(path: string, verdict: Verdict): void {
  try {
    writeFileSync(path, toJunit(verdict))
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

export function verdictLines({
  isSame,
  first,
  drift,
  calls,
  divergences,
  executed,
}: Verdict): readonly string[] {
  const ran = executed.length > 0 ? `; tools that ran in earnest: ${executed.join(', ')}` : ''
  if (isSame || first === undefined)
    return [
      `hansard: as recorded: ${counted(calls.asked, 'call')}, ${calls.exact} exact, ${calls.normalised} but for ids, dates and the like${ran}`,
    ]
  const counts = Object.entries(drift).flatMap(([name, count]) =>
    count === 0 ? [] : [`${count} ${name} drift`],
  )
  return [
    `hansard: it parts from the recording: ${counts.join(', ')}${ran}`,
    ...firstLines(first),
    ...(divergences.length > 1
      ? [`hansard: and ${divergences.length - 1} more; hansard replay why tells each request`]
      : []),
  ]
}

function firstLines({ drift, where, citation, call, what, differences }: Divergence): readonly string[] {
  const place = [
    citation === undefined ? undefined : `at ${citation}`,
    call === undefined ? undefined : `call ${call}`,
  ]
  return [
    `hansard: first: ${drift} drift (${where}), ${place.filter((one) => one !== undefined).join(', ')}: ${what}`,
    ...differences.slice(0, SHOWN).map((one) => `  ${differenceLine(one)}`),
  ]
}

const SHOWN = 5
