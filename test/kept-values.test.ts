/** Whatever a known field holds, the value is kept: formats change the types of their fields without telling anybody. */
import { describe, expect, it } from 'vitest'
import { formats } from '../src/formats/index.ts'
import { isObject, parseJson, toJson, type Json } from '../src/transcript/json.ts'
import { SAMPLES, type Sample } from './kept-samples.ts'
import { memoryFileSource, readAll } from './memory-files.ts'

const SENTINEL = 'zq-sentinel-zq'
const KINDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['a text', SENTINEL],
  ['an object', { [SENTINEL]: 1 }],
  ['a list', [SENTINEL]],
  ['a list of objects', [{ a: SENTINEL }]],
])

type Path = readonly (string | number)[]

describe('A field of another type than any seen', () => {
  for (const sample of SAMPLES) {
    it(`is kept: ${sample.format}, ${sample.title}`, async () => {
      const lost: string[] = []
      for (const path of pathsOf(sample.records)) {
        for (const [kind, value] of KINDS) {
          if (!(await isKept(sample, path, value))) lost.push(`${path.join('.')} as ${kind}`)
        }
      }
      expect(lost).toEqual([])
    })
  }

  it('is looked for in every field: what a reader would drop is found', async () => {
    const paths = SAMPLES.map(({ records }) => pathsOf(records).length)
    expect(Math.min(...paths)).toBeGreaterThan(15)
  })
})

/** Every field and element of the records; the list of records itself is no field. */
function pathsOf(records: Json, path: Path = []): readonly Path[] {
  const inner = Array.isArray(records)
    ? (records as readonly Json[]).map((value, at) => ({ key: at, value }))
    : isObject(records)
      ? Object.entries(records).map(([key, value]) => ({ key, value }))
      : []
  return inner.flatMap(({ key, value }) => [[...path, key], ...pathsOf(value, [...path, key])])
}

async function isKept(sample: Sample, path: Path, value: Json): Promise<boolean> {
  const format = formats.find(({ id }) => id === sample.format)
  if (format === undefined) throw new Error(`no format ${sample.format}`)
  const changed = put(sample.records, path, value)
  const text = sample.isLines
    ? (changed as readonly Json[]).map((record) => `${toJson(record)}\n`).join('')
    : toJson(changed)
  const transcripts = await readAll(format, memoryFileSource(sample.path, text))
  return toJson(transcripts).includes(SENTINEL)
}

function put(records: Json, path: Path, value: Json): Json {
  const copy = parseJson(toJson(records)) as Record<string | number, Json>
  let at = copy
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, Json>
  at[path.at(-1) as string | number] = value
  return copy
}
