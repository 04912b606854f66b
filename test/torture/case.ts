/** What a torture case is: small files as an agent writes them, what a hasty reader makes of them, and what is true. */
import type { Json, JsonObject } from '../../src/transcript/json.ts'
import { asArray, asNumber, asObject, isObject, parseJson } from '../../src/transcript/json.ts'
import type { Count, Quality } from '../../src/transcript/usage.ts'

/** Disjoint counts; one that nobody stated is absent. */
export type Tally = { readonly [K in Count]?: number } & {
  readonly calls: number
  readonly quality: Quality
}

export type TortureCase = {
  /** The way to miscount, in a few words: the test's name and the table's first column. */
  readonly name: string
  /** The format that must be detected. */
  readonly format: string
  readonly files: Readonly<Record<string, string>>
  /** What is opened, one after the other, as different syncs would; the folder of all files where absent. */
  readonly open?: readonly string[]
  readonly naive: {
    /** What a hasty reader does. */
    readonly does: string
    /** What comes out of it: computed from the files where that takes more than naming a number. */
    readonly count: (files: Readonly<Record<string, string>>) => Partial<Tally>
  }
  readonly truth: Tally
  /** Output by model, where more than one was asked. */
  readonly byModel?: Readonly<Record<string, number>>
}

export const toLines = (...lines: readonly Json[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join('')

/** Every object anywhere in any file, in order: what hasty readers look through. */
export function objectsIn(files: Readonly<Record<string, string>>): readonly JsonObject[] {
  const found: JsonObject[] = []
  const look = (value: Json | undefined): void => {
    if (isObject(value)) {
      found.push(value)
      for (const inner of Object.values(value)) look(inner)
    } else for (const inner of asArray(value) ?? []) look(inner)
  }
  for (const text of Object.values(files)) {
    const document = parseJson(text)
    if (document !== undefined) look(document)
    else for (const line of text.split('\n')) look(parseJson(line))
  }
  return found
}

/** The lines of all files, as objects. */
export function linesIn(files: Readonly<Record<string, string>>): readonly JsonObject[] {
  return Object.values(files)
    .flatMap((text) => text.split('\n').map((line) => parseJson(line)))
    .filter(isObject)
}

/** The value below a path of keys: `at(line, 'payload', 'info')`. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let here = value
  for (const key of path) here = asObject(here)?.[key]
  return here
}

export const numberAt = (value: Json | undefined, ...path: readonly string[]): number =>
  asNumber(at(value, ...path)) ?? 0

/** Adds up one number of each. */
export const total = <T>(all: readonly T[], pick: (one: T) => number): number =>
  all.reduce((sum, one) => sum + pick(one), 0)
