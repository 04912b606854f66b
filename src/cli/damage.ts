/** Damage as people are told of it: where, how much, what. Never the bytes themselves. */
import type { Damage } from '../transcript/damage.ts'
import { FAILED, note } from './print.ts'

const SHOWN = 20

/** Tells of damage on stderr. What could be read was given; the exit code says that it was not all. */
export function reportDamage(damage: readonly Damage[]): void {
  if (damage.length === 0) return
  process.exitCode = FAILED
  note(
    `hansard: ${damage.length} ${damage.length === 1 ? 'place is' : 'places are'} damaged; the rest was read`,
  )
  for (const { kind, file, line, byteOffset, byteLength, reason } of damage.slice(0, SHOWN)) {
    const place = line === undefined ? file : `${file}:${line}`
    note(`  ${place} (byte ${byteOffset}, ${byteLength} bytes): ${kind}: ${reason}`)
  }
  if (damage.length > SHOWN) note(`  and ${damage.length - SHOWN} more; --json names them all`)
}
