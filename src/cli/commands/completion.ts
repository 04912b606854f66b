/** `hansard completion`: what a shell needs to complete commands, flags, session ids and formats. */
import type { Command } from 'commander'
import { toBash } from '../completion/bash.ts'
import { toFish } from '../completion/fish.ts'
import { completedCommands } from '../completion/words.ts'
import { toZsh } from '../completion/zsh.ts'
import { out, outJson } from '../print.ts'

const SCRIPTS = { bash: toBash, zsh: toZsh, fish: toFish } as const

export type Shell = keyof typeof SCRIPTS

export async function completion(
  shell: Shell,
  program: Command,
  { json }: { readonly json?: boolean },
): Promise<void> {
  const script = SCRIPTS[shell](completedCommands(program))
  if (json) await outJson({ shell, script })
  else await out(script)
}
