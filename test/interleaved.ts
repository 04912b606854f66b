/** A disk on which something else happens right before one of its calls: for what two processes may do to each other. */
import type { Files } from '../src/journal/files.ts'

export function interleave(
  files: Files,
  call: number,
  happening: () => void,
): { readonly files: Files; calls(): number } {
  let calls = 0
  const wrapped = Object.fromEntries(
    Object.entries(files).map(([name, own]) => [
      name,
      (...given: never[]) => {
        calls += 1
        if (calls === call) happening()
        const carryOut: (...values: never[]) => unknown = own
        return carryOut(...given)
      },
    ]),
  )
  // Every function of the disk, under its own name.
  return { files: wrapped as unknown as Files, calls: () => calls }
}
