/**
 * Lines of JSON told by what stands between their values. Programs write the same few kinds of line again and again: the same names in
 * the same order, with other texts and numbers in between. A line whose names, brackets and fixed words are byte for byte those of a
 * line that was parsed before, and whose values are spelled as JSON has them, is JSON, and says the same under the same names. So it is
 * passed over once, by a function of WebAssembly, and only values that are asked for are ever made.
 */
import type { Cutter } from './cut-strings.ts'
import { EDGE, FLAGS, KINDS, SHAPE_TOLD, VALUE_BYTES } from './line-shapes-code.ts'
import { OPEN_END } from './skip-code.ts'

/** What the module has for it: see line-shapes-code.ts. */
export type ShapeCode = {
  readonly match: (at: number, values: number, node: number) => number
  readonly hasStars: (at: number, end: number) => number
  readonly mix: (from: number, to: number, step: number) => number
  readonly hashId: (from: number, to: number) => number
}

/** The texts between values, each with what follows it; the last is followed by the end of the line. */
export type ShapePart = { readonly text: string; readonly kind: keyof typeof KINDS }

export type LineShapes<P> = {
  /** Forgets where the values of lines are. */
  rewind(): void
  /**
   * What was learnt of lines of this shape; undefined for a line of no shape known. Its values are then those from `valuesAt` on, for as
   * long as it stands where it is and nothing is rewound.
   */
  match(at: number): P | undefined
  /** Of the line that was matched last: where its newline is, where its values are told, whether all of them are ASCII. */
  end(): number
  valuesAt(): number
  isAscii(): boolean
  /** True once nothing more can be learnt: finding out what might be takes as long as reading the line. */
  isFull(): boolean
  /** `parts`: as `shapeOf` has them. False when there is no more room for it, or it takes too much. */
  learn(parts: readonly ShapePart[], plan: P): boolean
}

/** Behind what the functions tell: values of the lines of a chunk, then the shapes. */
const VALUES_AT = (OPEN_END + 15) & ~15
const SHAPES_AT = 512 * 1024
export const SHAPES_END = SHAPES_AT + 1024 * 1024

/** Of a line: values, and bytes that its shape takes. A word may be as long as the line, and would leave no room for others. */
const MOST_VALUES = 200
const MOST_BYTES = 32 * 1024
/** More than logs have that fill all the room. Lines are compared with those that differ in one place one after the other. */
const MOST_SHAPES = 2000

export function createLineShapes<P>(cutter: Cutter): LineShapes<P> {
  const { match } = cutter.shapes
  const plans: P[] = []
  /** The first four bytes are the first node's. */
  let free = SHAPES_AT + 16
  let next = VALUES_AT
  let at = VALUES_AT

  /** The edge that has this text and kind, and the one that a new one is put behind. */
  const find = (node: number, text: Buffer, kind: number): { edge: number; last: number } => {
    const numbers = cutter.numbers()
    const bytes = cutter.room(0)
    let last = node
    for (let edge = numbers[node >> 2] as number; edge !== 0; edge = numbers[edge >> 2] as number) {
      const isSame =
        numbers[(edge + EDGE.kind) >> 2] === kind &&
        numbers[(edge + EDGE.length) >> 2] === text.length &&
        text.equals(bytes.subarray(edge + EDGE.text, edge + EDGE.text + text.length))
      if (isSame) return { edge, last }
      last = edge
    }
    return { edge: 0, last }
  }

  const isFull = (): boolean => plans.length >= MOST_SHAPES || free + MOST_BYTES > SHAPES_END

  return {
    rewind() {
      next = VALUES_AT
    },
    match(line) {
      if (next > SHAPES_AT - MOST_VALUES * VALUE_BYTES) return undefined
      const shape = match(line, next, SHAPES_AT)
      if (shape === -1) return undefined
      at = next
      next = cutter.numbers()[SHAPE_TOLD.values >> 2] as number
      return plans[shape]
    },
    end: () => cutter.numbers()[SHAPE_TOLD.end >> 2] as number,
    valuesAt: () => at >> 2,
    isAscii() {
      const numbers = cutter.numbers()
      for (let flags = (at >> 2) + 2; flags < next >> 2; flags += VALUE_BYTES / 4)
        if (((numbers[flags] as number) & FLAGS.others) !== 0) return false
      return true
    },
    isFull,
    learn(parts, plan) {
      if (isFull()) return false
      const numbers = cutter.numbers()
      const bytes = cutter.room(0)
      const texts = parts.map(({ text }) => Buffer.from(text, 'latin1'))
      const needed = texts.reduce((sum, text) => sum + sizeOf(text.length), 0)
      if (parts.length > MOST_VALUES || needed > MOST_BYTES) return false
      const before = free
      let node = SHAPES_AT
      for (const [nth, text] of texts.entries()) {
        const kind = KINDS[parts[nth]?.kind ?? 'end']
        const { edge, last } = find(node, text, kind)
        if (edge !== 0) {
          node = numbers[(edge + EDGE.to) >> 2] as number
          continue
        }
        // A node is where its first edge is told, behind the edge that leads there.
        const made = free
        free += sizeOf(text.length)
        text.copy(bytes, made + EDGE.text)
        numbers[(made + EDGE.length) >> 2] = text.length
        numbers[(made + EDGE.kind) >> 2] = kind
        numbers[(made + EDGE.to) >> 2] = kind === KINDS.end ? plans.length : free - 16
        numbers[last >> 2] = made
        node = free - 16
      }
      if (free > before) plans.push(plan)
      return true
    },
  }
}

/** Sixteen bytes at a time are compared, from any end; behind them is the node that the edge leads to. */
function sizeOf(length: number): number {
  return EDGE.text + Math.ceil(length / 16) * 16 + 16 + 16
}

/**
 * What to do with a value: it stands for all of its kind, it is looked into, any of its kind may be there, or lines with it are not
 * learnt.
 */
export type Handling = 'fixed' | 'within' | 'value' | 'refused'
export type ValueKind = 'string' | 'number' | 'object' | 'list'
/** `path`: names and places in lists, joined by dots. Words (`true`, `null`) and what is empty and looked into stand for themselves. */
export type Rule = (path: string, kind: ValueKind) => Handling

/** The parts of a line, and by path the place of each value among what is told of it. */
export type LineShape = { readonly parts: readonly ShapePart[]; readonly places: ReadonlyMap<string, number> }

/** `line`: JSON, its bytes as Latin-1. Undefined where it is refused, or spelled as few programs do. */
export function shapeOf(line: string, rule: Rule): LineShape | undefined {
  const parts: ShapePart[] = []
  const places = new Map<string, number>()
  /** What stands between the last value and here. */
  let from = 0
  let at = 0

  const valueAt = (path: string, kind: ShapePart['kind'], start: number, end: number): void => {
    places.set(path, parts.length)
    parts.push({ text: line.slice(from, start), kind })
    from = end
    at = kind === 'string' ? end + 1 : end
  }
  const take = (path: string): boolean => {
    const first = line[at]
    if (first === '"') {
      const end = endOfString(line, at)
      const handling = rule(path, 'string')
      if (handling === 'fixed') at = end + 1
      else valueAt(path, 'string', at + 1, end)
      return handling !== 'refused'
    }
    if (first === '{' || first === '[') {
      const handling = rule(path, first === '{' ? 'object' : 'list')
      if (handling === 'within') return first === '{' ? takeObject(path) : takeList(path)
      if (handling !== 'value') return false
      const end = endOfAny(line, at)
      valueAt(path, first === '{' ? 'object' : 'list', at, end)
      return true
    }
    const [word = ''] = /^(?:true|false|null|-?[0-9][-+.0-9eE]*)/.exec(line.slice(at, at + 400)) ?? []
    if (word === '' || word.length === 400) return false
    if (!isNumeric(word)) {
      at += word.length
      return true
    }
    const handling = rule(path, 'number')
    if (handling === 'value') valueAt(path, 'number', at, at + word.length)
    else at += word.length
    return handling === 'value' || handling === 'fixed'
  }
  const takeObject = (path: string): boolean => {
    const names = new Set<string>()
    at += 1
    if (line[at] === '}') {
      at += 1
      return true
    }
    for (;;) {
      const end = line[at] === '"' ? endOfString(line, at) : -1
      const name = line.slice(at + 1, end)
      if (end === -1 || line[end + 1] !== ':' || !isPlainName(name) || names.has(name)) return false
      names.add(name)
      at = end + 2
      if (!take(path === '' ? name : `${path}.${name}`)) return false
      at += 1
      if (line[at - 1] === '}') return true
      if (line[at - 1] !== ',') return false
    }
  }
  const takeList = (path: string): boolean => {
    at += 1
    if (line[at] === ']') {
      at += 1
      return true
    }
    for (let nth = 0; ; nth += 1) {
      if (!take(`${path}.${nth}`)) return false
      at += 1
      if (line[at - 1] === ']') return true
      if (line[at - 1] !== ',') return false
    }
  }

  if (line[0] !== '{' || !takeObject('') || at !== line.length || parts.length >= MOST_VALUES)
    return undefined
  parts.push({ text: line.slice(from), kind: 'end' })
  return { parts, places }
}

/** No name that an object has its own way with, and none that a path could be taken for. */
function isPlainName(name: string): boolean {
  return /^[A-Za-z_@$ -][\w@$ -]{0,99}$/.test(name) && name !== '__proto__'
}

const isNumeric = (word: string): boolean => word !== 'true' && word !== 'false' && word !== 'null'

/** The closing quote of the string whose first one is there. The line is JSON. */
function endOfString(line: string, from: number): number {
  for (let at = line.indexOf('"', from + 1); at !== -1; at = line.indexOf('"', at + 1)) {
    let slashes = 0
    while (line[at - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return at
  }
  return line.length
}

/** Behind the object or list that begins there. */
function endOfAny(line: string, from: number): number {
  let depth = 0
  for (let at = from; at < line.length; at += 1) {
    const first = line[at]
    if (first === '"') at = endOfString(line, at)
    else if (first === '{' || first === '[') depth += 1
    else if (first === '}' || first === ']') {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return line.length
}
