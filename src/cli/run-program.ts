/** A program in our place: it gets the terminal, the signals and the exit code as without us. */
import { spawn } from 'node:child_process'
import os from 'node:os'
import { HansardError, systemCode } from '../errors.ts'

export type Ended = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** What a terminal sends goes to the program by itself: it must only not end us. What somebody sends to us is for the program. */
const OF_THE_TERMINAL = ['SIGINT', 'SIGQUIT'] as const
const PASSED_ON = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

/** As a shell says it. */
export function exitCodeOf({ code, signal }: Ended): number {
  return code ?? 128 + (signal === null ? 0 : os.constants.signals[signal])
}

/** `stop`: asks the program to end. */
export function runProgram(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  stop?: AbortSignal,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env })
    stop?.addEventListener('abort', () => child.kill('SIGTERM'))
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
