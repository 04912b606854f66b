/**
 * `hansard run -- CMD…`: a program with its provider calls recorded. It gets the terminal, the signals and the exit code as without us;
 * only the addresses of its providers are ours.
 */
import { spawn } from 'node:child_process'
import os from 'node:os'
import { planRedirection } from '../../capture/proxy/environment.ts'
import { startProxy } from '../../capture/proxy/proxy.ts'
import { toUpstreams } from '../../capture/proxy/upstreams.ts'
import { createRunId } from '../../capture/run.ts'
import { HansardError, systemCode } from '../../errors.ts'
import { loadConfig } from '../config.ts'
import { note, printableJson } from '../print.ts'
import { recordedLine, toRecorded } from '../recorded-line.ts'

export type RunFlags = {
  readonly upstream?: readonly string[]
  readonly format?: readonly string[]
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
  const { flow, step, title } = flags
  const plan = planRedirection(toUpstreams(flags.upstream, process.env), process.env, command)
  const proxy = await startProxy({
    upstreams: plan.upstreams,
    runId: flags.run ?? createRunId(Date.now()),
    ...(flow !== undefined && { flow }),
    ...(step !== undefined && { step }),
    ...(title !== undefined && { title }),
    ...(home !== undefined && { home }),
    ...(formats && { formats }),
    onFailure: ({ message }) => note(`hansard: ${message}`),
  })
  const redirected = plan.redirect(proxy.url)
  let ended: Ended
  try {
    ended = await runProgram(redirected.command, redirected.env)
  } finally {
    const sessions = await proxy.close()
    // Standard output is the program's.
    if (flags.json) process.stderr.write(`${printableJson(toRecorded(sessions))}\n`)
    else if (flags.quiet !== true) note(recordedLine(sessions))
  }
  process.exitCode = ended.code ?? 128 + (ended.signal === null ? 0 : os.constants.signals[ended.signal])
}

type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** What a terminal sends goes to the program by itself: it must only not end us. What somebody sends to us is for the program. */
const OF_THE_TERMINAL = ['SIGINT', 'SIGQUIT'] as const
const PASSED_ON = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

function runProgram([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env })
    const isTerminal = process.stdin.isTTY
    for (const signal of [...OF_THE_TERMINAL, ...PASSED_ON]) {
      const isForUs = isTerminal && OF_THE_TERMINAL.some((one) => one === signal)
      try {
        process.on(signal, () => {
          if (!isForUs) child.kill(signal)
        })
      } catch {
        // This system has no such signal.
      }
    }
    child.on('error', (error) => {
      const missing = systemCode(error) === 'ENOENT'
      reject(
        new HansardError(missing ? 'not-found' : 'io', `${program} cannot be started: ${error.message}`, {
          hint: missing
            ? 'the command comes after --: hansard run -- claude'
            : 'check that it can be executed',
          cause: error,
        }),
      )
    })
    child.on('close', (code, signal) => resolve({ code, signal }))
  })
}
