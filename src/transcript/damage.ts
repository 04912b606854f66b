/** Bytes that should be an entry and are not: kept where they are, counted and shown, never skipped in silence. */
export type Damage = {
  readonly kind: DamageKind
  readonly file: string
  /** From 1. */
  readonly line?: number
  readonly byteOffset: number
  readonly byteLength: number
  /** What is wrong, in words, without the content. */
  readonly reason: string
}

/**
 * `torn`: the writer died inside this record. `nul`: a run of NUL bytes. `fused`: a stub and the next record on one line.
 * `not-json`, `not-an-entry`: somebody's bug. `not-utf8`: read with replacement characters. `checksum`: bytes changed
 * after they were written. `missing`: records that must have been there. `chain`: whole lines out of order or replaced.
 * `too-large`: over the cap, left where it is. `mismatch`: two files that should agree do not.
 */
export type DamageKind =
  | 'torn'
  | 'nul'
  | 'fused'
  | 'not-json'
  | 'not-an-entry'
  | 'not-utf8'
  | 'checksum'
  | 'missing'
  | 'chain'
  | 'too-large'
  | 'mismatch'
