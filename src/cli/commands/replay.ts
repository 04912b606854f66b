/** `hansard replay`: which of the things that are called so is meant. */
import { HansardError } from '../../errors.ts'
import type { PlaybackFlags } from './playback.ts'
import type { ForkFlags } from './replay-fork.ts'
import type { VerifyFlags } from './replay-verify.ts'

export type ReplayFlags = Omit<VerifyFlags & ForkFlags, 'speed'> &
  PlaybackFlags & {
    readonly serve?: boolean
    readonly verify?: boolean
    readonly mcp?: boolean
    readonly mcpServer?: string
  }

export async function replay(
  named: string | undefined,
  command: readonly string[],
  flags: ReplayFlags,
): Promise<void> {
  if (named === undefined)
    throw new HansardError('invalid-argument', 'no session is named', {
      hint: 'hansard replay ID; hansard list shows the sessions there are',
    })
  if (flags.from !== undefined) return (await import('./replay-fork.ts')).fork(named, command, served(flags))
  if (flags.mcp) return (await import('./replay-mcp.ts')).serveTools(named, flags)
  if (flags.verify) return (await import('./replay-verify.ts')).verify(named, command, served(flags))
  if (flags.serve || command.length > 0)
    return (await import('./replay-serve.ts')).serve(named, command, served(flags))
  return (await import('./playback.ts')).playBack(named, flags)
}

/** A program is answered as it was, or at once. */
function served({ speed, ...flags }: ReplayFlags): VerifyFlags & ForkFlags {
  if (speed === undefined) return flags
  if (speed === 'recorded' || speed === 'full') return { ...flags, speed }
  throw new HansardError('invalid-argument', `a program is not answered at the speed ${speed.slice(0, 40)}`, {
    hint: 'recorded or full; other speeds are for playing back',
  })
}
