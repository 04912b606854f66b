/** Damage as people are told of it: where, how much, what. Never the bytes themselves. */
import type { ReadItem } from '../formats/format.ts'
import { counted } from '../transcript/counted.ts'
import type { Damage } from '../transcript/damage.ts'
import { FAILED, note } from './print.ts'

export type DamageLog = {
  add(damage: Damage): void
  /** The first of them: a file of nothing but damage must not fill memory with it. */
  kept(): readonly Damage[]
  count(): number
}

const KEPT = 10_000
const SHOWN = 20

export function createDamageLog(first: readonly Damage[] = []): DamageLog {
  const kept = [...first]
  let count = kept.length
  return {
    add(damage) {
      count += 1
      if (kept.length < KEPT) kept.push(damage)
    },
    kept: () => kept,
    count: () => count,
  }
}

/** The same items, with their damage noted on the way. */
export async function* noteDamage(
  items: AsyncIterable<readonly ReadItem[]>,
  log: DamageLog,
): AsyncGenerator<readonly ReadItem[]> {
  for await (const batch of items) {
    for (const item of batch) if (item.type === 'damage') log.add(item.damage)
    yield batch
  }
}

/** Tells of damage on stderr. What could be read was given; the exit code says that it was not all. */
export function reportDamage(log: DamageLog): void {
  if (log.count() === 0) return
  process.exitCode = FAILED
  note(`hansard: ${counted(log.count(), 'place is', 'places are')} damaged; the rest was read`)
  for (const { kind, file, line, byteOffset, byteLength, reason } of log.kept().slice(0, SHOWN)) {
    const place = line === undefined ? file : `${file}:${line}`
    note(`  ${place} (byte ${byteOffset}, ${counted(byteLength, 'byte')}): ${kind}: ${reason}`)
  }
  if (log.count() > SHOWN) note(`  and ${log.count() - SHOWN} more; show --json names them`)
}
