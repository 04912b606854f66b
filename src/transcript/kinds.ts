/** What an entry is at a glance, in the bits of one small number: enough to draw a map of a long session, and to jump in it. */
import { ROLES, type Role } from './entry.ts'

/** The role stands in the lowest three bits: 0 for none, else its place in `ROLES`, from 1. */
export const KIND_ROLE_MASK = 0b111

/** `prompt`: what a person asked. `gap`: entries are missing before it. Fits 16 bits. */
export const KIND_FLAGS = {
  error: 1 << 3,
  edit: 1 << 4,
  tool: 1 << 5,
  thinking: 1 << 6,
  compaction: 1 << 7,
  damage: 1 << 8,
  gap: 1 << 9,
  prompt: 1 << 10,
} as const
export type KindFlag = keyof typeof KIND_FLAGS

export function toKind(role: Role | undefined, flags: readonly KindFlag[]): number {
  return flags.reduce(
    (bits, flag) => bits | KIND_FLAGS[flag],
    role === undefined ? 0 : ROLES.indexOf(role) + 1,
  )
}

export function roleOfKind(kind: number): Role | undefined {
  return ROLES[(kind & KIND_ROLE_MASK) - 1]
}
