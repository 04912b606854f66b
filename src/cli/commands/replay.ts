/** `hansard replay`: which of the things that are called so is meant. */
import { HansardError } from '../../errors.ts'
import type { ServeFlags } from './replay-serve.ts'

export type ReplayFlags = ServeFlags & { readonly serve?: boolean }

export async function replay(
  named: string | undefined,
  command: readonly string[],
  flags: ReplayFlags,
): Promise<void> {
  if (named === undefined)
    throw new HansardError('invalid-argument', 'no session is named', {
      hint: 'hansard replay ID --serve -- CMD…; hansard list shows the sessions there are',
    })
  if (flags.serve || command.length > 0)
    return (await import('./replay-serve.ts')).serve(named, command, flags)
  throw new HansardError('invalid-argument', 'what to do with the recording is not said', {
    hint: '--serve answers an agent from it',
  })
}
