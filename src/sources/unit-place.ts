/** Where a unit lies: what is read together, kept or in place. Nothing that reads one is loaded by this. */

export type UnitPlace = {
  /** The archive's folder. */
  readonly home: string
  readonly agent: string
  readonly root: string
  /** What the unit is called, relative to the root. */
  readonly unit: string
  /** Its files, relative to the root. */
  readonly paths: readonly string[]
  /** Read from what is kept, or where it lies. */
  readonly isKept: boolean
}

/** The agent of places that belong to no format. */
export const IMPORT = 'import'

/** The same for a unit wherever it is read: kept or in place. */
export function placeName({ agent, root, unit }: UnitPlace): string {
  return JSON.stringify([agent, root, unit])
}
