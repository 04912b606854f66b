/**
 * Reads texts, numbers, fields and lists so that what may differ between equal runs reads the same. Each normaliser is a row of the
 * table of volatile values and has its name, so that a replay can say which were needed.
 */
import type { Json } from '../../transcript/json.ts'
import { VOLATILE, type Shape, type Volatile } from '../volatile.ts'
import { arranged } from './result-order.ts'

/** What no single value shows. */
export const RESULT_ORDER = 'result-order'

export type Normaliser = {
  readonly name: string
  /** Fields that are left out. */
  readonly fields?: ReadonlySet<string>
  readonly text?: (text: string) => string
  readonly number?: (value: number) => Json
  /** How a list reads. */
  readonly list?: (items: readonly Json[]) => readonly Json[]
}

export type NormaliserOptions = {
  /** Folders that stand for the same thing in both runs: where each was started, and whose home it was. */
  readonly roots?: readonly string[]
}

export function createNormalisers({ roots = [] }: NormaliserOptions = {}): readonly Normaliser[] {
  return [{ name: RESULT_ORDER, list: arranged }, ...VOLATILE.map((row) => toNormaliser(row, roots))]
}

function toNormaliser(row: Volatile, roots: readonly string[]): Normaliser {
  const { name, fields, shapes, isNumber } = row
  const text = shapes && replacing(shapes)
  const places = name === 'paths' ? toPlaces(roots) : undefined
  return {
    name,
    ...(fields && { fields: new Set(fields) }),
    ...(text && { text: places === undefined ? text : (said) => text(places(said)) }),
    ...(isNumber && { number: (value) => (isNumber(value) ? `<${name}>` : value) }),
  }
}

/** All of them at once: how a text reads, which fields there are. */
export type Way = {
  readonly text: (text: string) => string
  readonly number: (value: number) => Json
  readonly list: (items: readonly Json[]) => readonly Json[]
  readonly isLeftOut: (field: string) => boolean
}

export function wayOf(normalisers: readonly Normaliser[]): Way {
  const texts = normalisers.flatMap(({ text }) => text ?? [])
  const numbers = normalisers.flatMap(({ number }) => number ?? [])
  const lists = normalisers.flatMap(({ list }) => list ?? [])
  const fields = new Set(normalisers.flatMap((one) => [...(one.fields ?? [])]))
  return {
    text: (text) => texts.reduce((said, read) => read(said), text),
    number: (value) =>
      numbers.reduce<Json>((said, read) => (typeof said === 'number' ? read(said) : said), value),
    list: (items) => lists.reduce((said, read) => read(said), items),
    isLeftOut: (field) => fields.has(field),
  }
}

/** Those that make two values equal which are not, or that change them at all where no single one does. */
export function neededFor(recorded: Json, live: Json, normalisers: readonly Normaliser[]): readonly string[] {
  const read = ({ text, number }: Normaliser, value: Json): Json =>
    typeof value === 'string'
      ? (text?.(value) ?? value)
      : typeof value === 'number'
        ? (number?.(value) ?? value)
        : value
  const alone = normalisers.find((one) => read(one, recorded) === read(one, live))
  if (alone !== undefined) return [alone.name]
  return normalisers
    .filter((one) => read(one, recorded) !== recorded || read(one, live) !== live)
    .map(({ name }) => name)
}

function replacing(shapes: readonly Shape[]): (text: string) => string {
  return (text) => shapes.reduce((said, [shape, instead]) => said.replace(shape, instead), text)
}

/** The longest first: a home is the beginning of what lies in it. */
function toPlaces(roots: readonly string[]): (text: string) => string {
  const own = [...new Set(roots)].filter((root) => root.length > 1).sort((a, b) => b.length - a.length)
  // Claude Code names a folder by its path with hyphens.
  const all = own.flatMap((root) => [root, root.replaceAll(/[^A-Za-z0-9]/g, '-')])
  return (text) => all.reduce((said, root) => said.replaceAll(root, '<folder>'), text)
}
