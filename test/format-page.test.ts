/** `docs/format.md` is the contract: its examples are real lines, its schema fits what is written, its numbers are measured. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { journal } from '../src/journal/format.ts'
import { createJournalParser } from '../src/journal/reader.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../src/transcript/json.ts'
import { transcript } from './arbitrary.ts'
import { createDisk, withFault } from './faulty-files.ts'
import { first, sampleEntry } from './journal-samples.ts'
import { writeTranscript } from './memory-files.ts'
import { openJournal } from '../src/journal/writer.ts'

const docs = (name: string): string => readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8')
const schema = parseJson(docs('format.schema.json')) as JsonObject
const example = /```jsonl\n([\s\S]*?)```/.exec(docs('format.md'))?.[1] ?? ''

/** As much of JSON Schema 2020-12 as the page's schema uses. Says what is wrong, or undefined. */
function check(value: Json | undefined, rule: Json | undefined, at: string): string | undefined {
  if (value === undefined || !isObject(rule)) return undefined
  const ref = rule['$ref']
  if (typeof ref === 'string') {
    const found = check(value, (schema['$defs'] as JsonObject)[ref.slice('#/$defs/'.length)], at)
    if (found !== undefined) return found
  }
  for (const part of (rule['allOf'] as Json[] | undefined) ?? []) {
    const found = check(value, part, at)
    if (found !== undefined) return found
  }
  const fitting = (key: string): number | undefined =>
    (rule[key] as Json[] | undefined)?.filter((one) => check(value, one, at) === undefined).length
  if (fitting('anyOf') === 0) return `${at} fits none`
  if ((fitting('oneOf') ?? 1) !== 1) return `${at} fits ${fitting('oneOf')} of one`
  if (rule['not'] !== undefined && check(value, rule['not'], at) === undefined) return `${at} must not fit`
  if ('const' in rule && value !== rule['const']) return `${at} is not ${JSON.stringify(rule['const'])}`
  if (Array.isArray(rule['enum']) && !rule['enum'].includes(value)) return `${at} is none of the values`
  const types = rule['type'] === undefined ? undefined : [rule['type']].flat()
  if (types !== undefined && !types.some((type) => isType(value, type)))
    return `${at} is no ${JSON.stringify(types)}`
  if (
    typeof value === 'string' &&
    typeof rule['pattern'] === 'string' &&
    !new RegExp(rule['pattern'], 'u').test(value)
  )
    return `${at} does not match`
  if (typeof value === 'number' && typeof rule['minimum'] === 'number' && value < rule['minimum'])
    return `${at} is too small`
  if (Array.isArray(value))
    return firstOf(value.map((item, n) => check(item as Json, rule['items'], `${at}[${n}]`)))
  if (!isObject(value)) return undefined
  for (const key of (rule['required'] as string[] | undefined) ?? [])
    if (!Object.hasOwn(value, key)) return `${at} has no ${key}`
  const properties = Object.entries((rule['properties'] as JsonObject | undefined) ?? {})
  return firstOf(properties.map(([key, inner]) => check(value[key], inner, `${at}.${key}`)))
}

function isType(value: Json, type: Json): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return typeof value === type
}

function firstOf(found: readonly (string | undefined)[]): string | undefined {
  return found.find((problem) => problem !== undefined)
}

const problemsOf = (text: string): (string | undefined)[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => check(parseJson(line), schema, 'line'))
    .filter((problem) => problem !== undefined)

describe('docs/format.md', () => {
  it('shows lines that verify, of every type of record', () => {
    const parser = createJournalParser('docs/format.md')
    const items = [...parser.push(Buffer.from(example)), ...parser.end()]
    expect(items.every((item) => item.ok)).toBe(true)
    const types = items.map((item) => (item.ok ? item.record.t : 'damage'))
    expect(new Set(types)).toEqual(new Set(['session', 'entry', 'update', 'files', 'gap', 'end']))
  })

  it('keeps its promises about size', () => {
    const disk = createDisk()
    const task = openJournal({ files: disk.files, folder: '/s', first, writer: 'w' })
    task.append({ t: 'entry', entry: sampleEntry(0, 'Say hello.') })
    task.append({ t: 'entry', entry: sampleEntry(1, 'Hello.') })
    task.append({
      t: 'end',
      session: { status: 'completed' },
      counts: { entries: 2, lines: 3 },
      at: '2026-01-01T00:00:00.000Z',
    })
    task.closeSync()
    expect(disk.now().get('/s/journal-w.jsonl')?.length).toBeLessThan(2500)
    const content = 2000
    const large = openJournal({ files: disk.files, folder: '/l', first, writer: 'w' })
    const before = disk.now().get('/l/journal-w.jsonl')?.length ?? 0
    large.append({ t: 'entry', entry: { ...sampleEntry(1, 'x'.repeat(content)) } })
    large.closeSync()
    const line = (disk.now().get('/l/journal-w.jsonl')?.length ?? 0) - before
    expect(content / line).toBeGreaterThan(0.84)
  })
})

describe('docs/format.schema.json', () => {
  it('fits the lines shown, and any transcript as a journal', () => {
    expect(problemsOf(example)).toEqual([])
    fc.assert(
      fc.property(transcript, (given) => {
        for (const bytes of writeTranscript(journal, given).files.values())
          expect(problemsOf(bytes.toString())).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  it('fits what the writer leaves behind a failing disk', async () => {
    for (let at = 1; at < 60; at += 3) {
      const disk = createDisk()
      const faulty = withFault(disk, { at, kind: 'EIO', sticky: false })
      const writer = openJournal({
        files: faulty.files,
        folder: '/s',
        first,
        holdBytes: 3000,
        pause: async () => {},
      })
      for (let n = 0; n < 10; n += 1) writer.append({ t: 'entry', entry: sampleEntry(n, 'x'.repeat(1000)) })
      await writer.close()
      for (const bytes of disk.now().values()) expect(problemsOf(wholeLines(bytes))).toEqual([])
    }
  })

  it('does not fit what is no line', () => {
    const [line = ''] = example.split('\n')
    expect(problemsOf(line.replace('"v":1', '"v":2'))).toHaveLength(1)
    expect(problemsOf(line.replace('"seq":0', '"seq":-1'))).toHaveLength(1)
    expect(problemsOf(line.replace('"status":"running"', '"status":"paused"'))).toHaveLength(1)
    expect(problemsOf(line.replace(/"c":"[0-9a-f]{8}"/, '"c":"ABCDEF01"'))).toHaveLength(1)
    expect(problemsOf(line.replace('"writer"', '"written"'))).toHaveLength(1)
    expect(problemsOf(line.replace('"t":"session"', '"t":"later"'))).toEqual([])
  })
})

function wholeLines(bytes: Buffer): string {
  const text = bytes.toString()
  return text.slice(0, text.lastIndexOf('}\n') + 2)
}
