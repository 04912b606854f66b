/**
 * What holds for every reader there is, and for each that is added: whatever becomes of its bytes, it gives entries, unknowns or damage, a few
 * at a time, and never an exception.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Format } from '../src/formats/format.ts'
import { formats } from '../src/formats/index.ts'
import { parseJson, toJson, isObject, type Json } from '../src/transcript/json.ts'
import { memoryFileSource } from './memory-files.ts'
import { RECORDINGS, type Recording } from './recordings.ts'

const of = (id: string): readonly Recording[] => RECORDINGS.filter(({ format }) => format === id)

/** How much it told, and the most at a time. */
async function read(
  format: Format,
  path: string,
  content: string | Buffer,
  chunkBytes = 64 * 1024,
): Promise<{ readonly items: number; readonly most: number }> {
  let items = 0
  let most = 0
  for await (const some of format.read(memoryFileSource(path, content, { chunkBytes }))) {
    items += some.length
    most = Math.max(most, some.length)
    for (const item of some) if (item.type === 'entry') toJson(item.entry)
  }
  return { items, most }
}

/** Without where they lie. */
async function entriesOf(format: Format, path: string, content: string): Promise<readonly unknown[]> {
  const entries: unknown[] = []
  for await (const some of format.read(memoryFileSource(path, content)))
    for (const item of some) {
      expect(item.type).not.toBe('damage')
      if (item.type === 'entry') entries.push({ ...item.entry, origin: undefined })
    }
  return entries
}

it('every format has a recording of its own', () => {
  expect(formats.map(({ id }) => id).filter((id) => of(id).length === 0)).toEqual([])
})

describe.each(formats.map((format) => [format.id, format] as const))('%s', (id, format) => {
  it('tells something wherever it is cut off', async () => {
    for (const { path, text } of of(id)) {
      const bytes = Buffer.from(text)
      for (const length of cuts(bytes.length)) {
        const cut = bytes.subarray(0, length)
        if (cut.toString().trim() === '') continue
        expect((await read(format, path, cut)).items, `${length} bytes`).toBeGreaterThan(0)
      }
    }
  })

  it('reads what has lost or changed bits, bytes and lines', async () => {
    const recordings = of(id)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...recordings),
        fc.array(fc.record({ at: fc.nat(), bit: fc.nat({ max: 7 }), how: fc.nat({ max: 2 }) }), {
          minLength: 1,
          maxLength: 8,
        }),
        async ({ path, text }, changes) => {
          let bytes = Buffer.from(text)
          for (const { at, bit, how } of changes) {
            const place = at % Math.max(1, bytes.length)
            if (how === 0 && bytes.length > 0) bytes[place] = (bytes[place] as number) ^ (1 << bit)
            else if (how === 1)
              bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(place + 1 + bit)])
            else bytes = Buffer.concat([bytes.subarray(0, place), bytes.subarray(Math.max(0, place - bit))])
          }
          await read(format, path, bytes)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('reads every record where two of them stand on one line', async () => {
    if (id === 'raw') return
    for (const { path, text } of of(id)) {
      const lines = text.trimEnd().split('\n')
      if (lines.length < 3 || !lines.every((line) => isObject(parseJson(line)))) continue
      const expected = await entriesOf(format, path, text)
      for (let at = 1; at < lines.length - 1; at += 1) {
        const glued = [...lines.slice(0, at), `${lines[at]}${lines[at + 1]}`, ...lines.slice(at + 2)]
        expect(await entriesOf(format, path, `${glued.join('\n')}\n`), `line ${at + 1}`).toEqual(expected)
      }
    }
  })

  it('reads values of any size and depth, and names that mean something to us', async () => {
    const deep =
      parseJson(`${'['.repeat(500)}${'{"a":'.repeat(500)}1${'}'.repeat(500)}${']'.repeat(500)}`) ?? []
    const odd: readonly Json[] = [
      deep,
      1e308,
      -1,
      2 ** 53,
      '9'.repeat(400),
      { ['__proto__']: { polluted: true }, constructor: { prototype: { polluted: true } }, toString: 1 },
      [],
    ]
    for (const { path, text } of of(id)) {
      const whole = parseJson(text)
      const lines = text.split('\n').map((line) => parseJson(line))
      for (const value of odd) {
        const changed =
          whole === undefined
            ? lines.map((line) => `${toJson(line === undefined ? null : everyLeaf(line, value))}\n`).join('')
            : toJson(everyLeaf(whole, value))
        await read(format, path, changed)
        await read(format, path, `${text}\n${toJson({ ['__proto__']: value, value })}\n`)
      }
    }
    expect(({} as { readonly polluted?: boolean }).polluted).toBeUndefined()
  })

  it('shows a change of an agent’s log: nothing of what is known, and the name of what is not', async () => {
    if (!AGENTS.has(id)) return
    const told: string[] = []
    for (const { path, text } of of(id)) {
      const drift = async (content: string): Promise<readonly string[]> => {
        const names: string[] = []
        const source = memoryFileSource(path, content)
        for await (const _ of format.read(source, { drift: ({ name }) => void names.push(name) })) continue
        return names
      }
      expect(await drift(text)).toEqual([])
      const whole = parseJson(text)
      const lines = text.trimEnd().split('\n')
      const changed =
        whole === undefined
          ? lines.map((line) => `${toJson(withNew(parseJson(line) ?? null))}\n`).join('')
          : toJson(withNew(whole))
      told.push(...(await drift(changed)))
    }
    expect(told.some((name) => name.includes('dream'))).toBe(true)
  })

  it('tells many small records a few at a time', async () => {
    for (const { path, text } of of(id)) {
      const head = text.split('\n', 1)[0] ?? ''
      const { most } = await read(format, path, `${head}\n${'{}\n'.repeat(3000)}`, 1000)
      expect(most).toBeLessThan(1000)
    }
  })
})

/**
 * Where a recording is cut off: every byte of its end, and of the rest as many as there is time for, others on each run. All of them with
 * `HANSARD_EVERY_BYTE=1`.
 */
function cuts(length: number): readonly number[] {
  const all = Array.from({ length: length - 1 }, (_, index) => index + 1)
  if (process.env['HANSARD_EVERY_BYTE'] === '1') return all
  const step = Math.max(1, Math.floor(length / 30))
  const first = Math.floor(Math.random() * step)
  return all.filter((at) => at > length - 12 || at % step === first)
}

/** Written by agents and what runs them: they change without a word. Others' formats are APIs, and Aider's log has no names. */
const AGENTS: ReadonlySet<string> = new Set(
  `claude-code codex pi gemini-cli opencode kilo copilot-cli qwen kimi iflow grok dsh openclaw-telemetry anthropic-managed-agents claude-stream-json
  codex-tui-log gemini-stream-json openhands goose continue amp hermes antigravity droid langsmith inspect atof atif mini-swe-agent swe-agent
  claude-export chatgpt-export`.split(/\s+/),
)

function withNew(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withNew)
  if (!isObject(value)) return value
  return { ...Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withNew(one)])), dream: 1 }
}

/** Each field of each record, one after the other, holds the value. */
function everyLeaf(value: Json, leaf: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((one) => everyLeaf(one, leaf))
  if (!isObject(value)) return value
  const keys = Object.keys(value)
  return Object.fromEntries(
    keys.map((key, at) => [
      key,
      at % 3 === 1 && typeof value[key] !== 'object' ? leaf : everyLeaf(value[key] as Json, leaf),
    ]),
  )
}
