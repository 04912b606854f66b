import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callHash, hashSteps, mixedFirst } from './call-hash.ts'
import { codeOfCut } from './cut-strings-code.ts'
import { createCutter, LINES_AT, type Cutter } from './cut-strings.ts'
import { isObject, parseJson, type Json } from './json.ts'
import { createLineShapes, shapeOf, type LineShape, type LineShapes, type Rule } from './line-shapes.ts'
import { createLineValues } from './line-values.ts'
import { hashText } from './text-hash.ts'

const cutter = createCutter(codeOfCut({ keys: ['content'], whole: 'input', longest: 100 })) as Cutter
const values = createLineValues(cutter)

/** Words are fixed, objects looked into, lists are any; below `refused` nothing is learnt. */
const rule: Rule = (path, kind) => {
  if (path.endsWith('refused')) return 'refused'
  if (path.endsWith('word') && kind === 'string') return 'fixed'
  return kind === 'object' ? 'within' : 'value'
}

const latin = (line: string): string => Buffer.from(line).toString('latin1')

function put(line: Buffer): void {
  const room = cutter.room(line.length + 1)
  line.copy(room, LINES_AT)
  room[LINES_AT + line.length] = 0x0a
}

/** What a line that was matched says, by path. */
function told(shape: LineShape, shapes: LineShapes<unknown>, line: Buffer): Record<string, Json> {
  const numbers = cutter.numbers()
  const found: Record<string, Json> = {}
  for (const [path, place] of shape.places) {
    const at = shapes.valuesAt() + place * 3
    const isText = shape.parts[place]?.kind === 'string'
    const [from, to] = [(numbers[at] as number) - LINES_AT, (numbers[at + 1] as number) - LINES_AT]
    const spelled = line.toString('utf8', isText ? from - 1 : from, isText ? to + 1 : to)
    found[path] = parseJson(spelled) as Json
    values.of(shapes.valuesAt())
    if (!isText) continue
    expect(values.text(place)).toBe(found[path])
    expect(values.hash(place)).toBe(hashText(found[path] as string))
    expect(values.isEmpty(place)).toBe(found[path] === '')
  }
  return found
}

function valueIn(value: Json, path: string): Json | undefined {
  return path
    .split('.')
    .reduce<Json | undefined>((one, name) => (isObject(one) ? one[name] : undefined), value)
}

const text = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc
    .array(fc.constantFrom('"', '\\', '\n', 'é', '漢', '🦊', '{', '}', ',', '\u0001', '* ', '**', 'word '), {
      maxLength: 30,
    })
    .map((parts) => parts.join('')),
)
const any = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(true, false, null),
)
const list = fc.array(
  fc.oneof(any, fc.array(any, { maxLength: 2 }), fc.dictionary(text, any, { maxKeys: 2 })),
  {
    maxLength: 3,
  },
)
const name = fc.constantFrom('a', 'word', 'is_it', 'long name of more than sixteen', 'x-1')
const object = fc.dictionary(
  name,
  fc.oneof(any, list, fc.dictionary(name, fc.oneof(any, list), { maxKeys: 3, noNullPrototype: true })),
  { maxKeys: 5, noNullPrototype: true },
)

/** Another value of the same kind in each place that is not fixed. */
function other(value: Json, path: string, texts: readonly string[], lists: readonly Json[]): Json {
  const pick = <T>(all: readonly T[], none: T): T => all[path.length % Math.max(all.length, 1)] ?? none
  if (path.endsWith('word') && typeof value === 'string') return value
  if (typeof value === 'string') return pick(texts, '')
  if (typeof value === 'number') return path.length * 7.5e3
  if (Array.isArray(value)) return pick(lists, [])
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, other(one, `${path}.${name}`, texts, lists)]),
  )
}

describe('a line of a shape that was learnt', () => {
  it('is told by it, with its own values', () => {
    fc.assert(
      fc.property(object, fc.array(text), fc.array(list), (one, texts, lists) => {
        const shape = shapeOf(latin(JSON.stringify(one)), rule)
        const shapes = createLineShapes<LineShape>(cutter)
        cutter.numbers().fill(0, 0, LINES_AT / 4)
        expect(shape).toBeDefined()
        if (shape === undefined) return
        shapes.learn(shape.parts, shape)
        const spelled = JSON.stringify(other(one, '', texts, lists))
        // As JSON has it, which knows no -0.
        const next = parseJson(spelled) as Json
        const line = Buffer.from(spelled)
        put(line)
        expect(shapes.match(LINES_AT)).toBe(shape)
        expect(shapes.end()).toBe(LINES_AT + line.length)
        const isAscii = shapes.isAscii()
        for (const [path, said] of Object.entries(told(shape, shapes, line))) {
          expect(said).toEqual(valueIn(next, path))
          if (isAscii) expect(JSON.stringify(said)).toMatch(/^[\0-~]*$/)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('is JSON that says the same under the same names, whatever was written over', () => {
    const seeds = [
      {
        word: 'x',
        a: 'é "said"\n',
        n: 12,
        f: -1.5e-3,
        is: true,
        list: [1, [{ b: 'c' }], 'd'],
        o: { a: 'z', e: {} },
      },
      { word: 'y', a: '', n: 0, list: [], o: { a: '', e: {} } },
    ]
    const shapes = createLineShapes<LineShape>(cutter)
    cutter.numbers().fill(0, 0, LINES_AT / 4)
    for (const seed of seeds) {
      const shape = shapeOf(latin(JSON.stringify(seed)), rule) as LineShape
      shapes.learn(shape.parts, shape)
    }
    let [matched, missed] = [0, 0]
    for (const seed of seeds) {
      const line = Buffer.from(JSON.stringify(seed))
      for (let at = 0; at < line.length; at += 1) {
        for (let byte = 0; byte < 256; byte += 1) {
          const broken = Buffer.from(line)
          broken[at] = byte
          put(broken)
          shapes.rewind()
          const shape = shapes.match(LINES_AT)
          if (shape === undefined) {
            missed += 1
            continue
          }
          matched += 1
          const value = JSON.parse(broken.toString()) as Json
          for (const [path, said] of Object.entries(told(shape, shapes, broken)))
            expect(said).toEqual(valueIn(value, path))
        }
      }
    }
    expect(matched).toBeGreaterThan(2000)
    expect(missed).toBeGreaterThan(3000)
  })

  it('has an object where that had one, and a list where that had a list', () => {
    const shapes = createLineShapes<LineShape>(cutter)
    cutter.numbers().fill(0, 0, LINES_AT / 4)
    const shape = shapeOf('{"a":[1]}', rule) as LineShape
    shapes.learn(shape.parts, shape)
    for (const [line, is] of [
      ['{"a":[{},"x"]}', true],
      ['{"a":{}}', false],
      ['{"a":"[]"}', false],
      ['{"a":[1}', false],
    ] as const) {
      put(Buffer.from(line))
      expect(shapes.match(LINES_AT) === shape).toBe(is)
    }
  })

  it('is not learnt where it says a name twice, in odd letters, or what is refused', () => {
    for (const line of [
      '{"a":1,"a":2}',
      String.raw`{"\u0061":1}`,
      '{"1":1}',
      '{"__proto__":1}',
      '{"é":1}',
      '{"a": 1}',
      '{"refused":"x"}',
      '[1]',
    ])
      expect(shapeOf(latin(line), rule)).toBeUndefined()
  })

  it('is not learnt where its words would leave no room for others', () => {
    const shapes = createLineShapes<LineShape>(cutter)
    cutter.numbers().fill(0, 0, LINES_AT / 4)
    const [long, short] = [40_000, 4000].map(
      (length) => shapeOf(JSON.stringify({ word: 'x'.repeat(length), a: 1 }), rule) as LineShape,
    )
    expect(shapes.learn(long?.parts ?? [], long as LineShape)).toBe(false)
    expect(shapes.learn(short?.parts ?? [], short as LineShape)).toBe(true)
  })

  it.each([
    ['bytes', 8],
    ['shapes', 1],
  ])('is learnt as long as there is room for %s, and told from then on as from the first', (_, names) => {
    const shapes = createLineShapes<number>(cutter)
    cutter.numbers().fill(0, 0, LINES_AT / 4)
    const long = Array.from({ length: names }, (_, nth) => [`${'long '.repeat(19)}${'abcdefgh'[nth]}`, nth])
    const lineOf = (n: number): string =>
      JSON.stringify({ [`name-${n}`]: 'x', ...(Object.fromEntries(long) as object) })
    let learnt = 0
    for (;;) {
      const shape = shapeOf(lineOf(learnt), rule) as LineShape
      if (!shapes.learn(shape.parts, learnt)) break
      learnt += 1
    }
    expect(learnt).toBeGreaterThan(500)
    expect(learnt === 2000).toBe(names === 1)
    expect(shapes.isFull()).toBe(true)
    for (const n of [0, 1, learnt - 1]) {
      put(Buffer.from(lineOf(n)))
      expect(shapes.match(LINES_AT)).toBe(n)
    }
    put(Buffer.from(lineOf(learnt)))
    expect(shapes.match(LINES_AT)).toBeUndefined()
  })
})

describe('what a tool was given, hashed where it stands', () => {
  it('has the hash of the call', () => {
    const shapes = createLineShapes<LineShape>(cutter)
    cutter.numbers().fill(0, 0, LINES_AT / 4)
    const long = fc.tuple(text, fc.nat({ max: 400 })).map(([one, times]) => one.repeat(times))
    fc.assert(
      fc.property(fc.oneof(text, long), fc.nat(), (said, n) => {
        const line = JSON.stringify({ a: said, n })
        const shape = shapeOf(latin(line), rule) as LineShape
        shapes.learn(shape.parts, shape)
        put(Buffer.from(line))
        shapes.rewind()
        expect(shapes.match(LINES_AT)).toBeDefined()
        values.of(shapes.valuesAt())
        values.begin(mixedFirst('Tool', []))
        let isMixed = true
        for (const step of hashSteps({ a: '\u0002', n: '\u0003' })) {
          if (step === '\u0002') isMixed = isMixed && values.mix(0)
          else if (step === '\u0003') isMixed = isMixed && values.mixNumber(1)
          else values.mixStep(step)
        }
        expect(isMixed).toBe(!said.includes('*** '))
        if (isMixed)
          expect(values.mixed()).toBe(callHash({ type: 'tool-call', name: 'Tool', input: { a: said, n } }))
      }),
      { numRuns: 1000 },
    )
  })
})
