/**
 * A conversion never loses a fact in silence. Every fact of a transcript is marked, so that it can be found again in what reads
 * back, wherever the target put it; each one that is gone or changed must be named by a loss of its entry, or of the session.
 *
 * Not asked for, because what reads back still says it:
 * - `totals`: summed from the entries;
 * - ids of the form `<source>/<sequence>`, and a `null` parent of a first entry: the place says both;
 * - a parent whose entry was given another id, in formats that keep the link, and in weakincentives and codex one that is simply the
 *   entry before;
 * - in entire the name of a result's tool, where its call has it;
 * - metadata of another format that stands one level down, under the key `metadata`;
 * - `isError: false`: what absence says.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formats } from '../src/formats/index.ts'
import { swarm } from '../src/formats/swarm.ts'
import { FILE_NAME } from '../src/formats/weakincentives-entry.ts'
import { contentText, outputText, type Block } from '../src/transcript/block.ts'
import type { Entry } from '../src/transcript/entry.ts'
import { isObject, toJson, type Json } from '../src/transcript/json.ts'
import type { Session } from '../src/transcript/session.ts'
import type { Transcript } from '../src/transcript/transcript.ts'
import { promptTokens, type Usage } from '../src/transcript/usage.ts'
import { transcript } from './arbitrary.ts'
import { memorySource, readAll, writeTranscript, type MemoryFiles, type Written } from './memory-files.ts'

/** The same ones each time, so that what fails once fails again; for a long search: `HONEST_RUNS=5000`, at seeds of its own. */
const more = process.env['HONEST_RUNS']
const RUNS = more === undefined ? { numRuns: 30, seed: 20_260_101 } : { numRuns: Number(more) }

const FORMATS = formats.filter(({ write }) => write !== undefined)

describe.each(FORMATS)('converting to $id', (format) => {
  const convert = async (given: Given): Promise<string[]> => {
    const written = writeTranscript(format, given, { timeZone: 'Europe/Berlin' })
    const back = await readAll(format, memorySource(written.files))
    return [...silentOfSession(given.session, back, written), ...silentOfEntries(given, back, written)]
  }

  it('tells of every fact that does not read back, of any transcript', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (any) => {
        expect(await convert(marked(any))).toEqual([])
      }),
      RUNS,
    )
  })

  it('tells of every fact that does not read back, of transcripts in which every fact is set', async () => {
    await fc.assert(
      fc.asyncProperty(transcript, fc.boolean(), async (any, uuids) => {
        expect(await convert(enriched(marked(any), uuids))).toEqual([])
      }),
      RUNS,
    )
  })

  it('would tell of each fact: without its notes the comparison finds some', async () => {
    const given = enriched(marked({ session: SESSION, entries: ENTRIES }), false)
    const written = writeTranscript(format, given, { timeZone: 'UTC' })
    const back = await readAll(format, memorySource(withoutOurs(written.files)))
    const silenced = { ...written, lost: [], filled: [] }
    expect(silentOfSession(given.session, back, silenced)).toContain('tags')
    expect(silentOfEntries(given, back, silenced).length).toBeGreaterThan(0)
    expect(await convert(given)).toEqual([])
  })

  it('says little of an ordinary entry: one note, and for a tool two at most', () => {
    const given = enriched(marked({ session: SESSION, entries: ENTRIES }), false)
    const { lost } = writeTranscript(format, given, { timeZone: 'UTC' })
    for (const { id } of given.entries)
      expect(lost.filter(({ entry }) => entry === id).length).toBeLessThan(3)
  })
})

it('a stated usage is kept by swarm as it is stated, whatever its entries sum up to', async () => {
  const reportedUsage: Usage = { input: 100, output: 7, quality: 'reported' }
  const given = enriched(marked({ session: SESSION, entries: ENTRIES }), false)
  const { files } = writeTranscript(swarm, { ...given, session: { ...given.session, reportedUsage } })
  const [back] = await readAll(swarm, memorySource(files))
  expect(back?.session.reportedUsage).toMatchObject(reportedUsage)
})

/** What others would read: without the facts that we carry along where a format lets anybody put something. */
function withoutOurs(files: MemoryFiles): MemoryFiles {
  return new Map(
    [...files].map(([path, bytes]) => [path, Buffer.from(bytes.toString().replaceAll('"hansard', '"other'))]),
  )
}

type Given = Pick<Transcript, 'session' | 'entries'>

const SESSION: Session = {
  id: '0190a0b0-0000-7000-8000-000000000000',
  run: { id: 'run-1', flow: 'build', step: 's1', node: 'n1', agentKey: 'coder', engine: 'claude' },
  thread: 'thread-1',
  chat: 'chat-1',
  mode: 'plan',
  status: 'completed',
  startedAt: '2025-01-01T00:00:00.000Z',
  endedAt: '2025-01-01T00:10:00.000Z',
}

const at = (second: number): string => `2025-01-01T00:00:0${second}.000Z`
const PRIMARY = { source: 'primary', kind: 'message' } as const

const ENTRIES: readonly Entry[] = [
  { ...PRIMARY, id: 'e0', sequence: 0, role: 'user', at: at(1), blocks: [{ type: 'text', text: 'hello' }] },
  {
    ...PRIMARY,
    id: 'e1',
    sequence: 1,
    role: 'assistant',
    at: at(2),
    blocks: [
      { type: 'text', text: 'hi' },
      { type: 'tool-call', callId: 'c1', name: 'Bash', input: { x: 1 } },
    ],
  },
  {
    ...PRIMARY,
    id: 'e2',
    sequence: 2,
    role: 'tool',
    at: at(3),
    blocks: [{ type: 'tool-result', callId: 'c1', name: 'Bash', output: 'o', isError: true }],
  },
]

/** Each block with a mark of its own in its first words, by which it is found again. */
function marked({ session, entries }: Given): Given {
  return {
    session,
    entries: entries.map((entry, index) => ({
      ...entry,
      blocks: entry.blocks.map((block, at) => markBlock(block, `#${index}.${at}#`)),
    })),
  }
}

function markBlock(block: Block, mark: string): Block {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return { ...block, text: `${mark}\n${contentText(block.text)}` }
    case 'tool-call':
      return { ...block, input: { mark, given: block.input ?? null } }
    case 'tool-result':
      return { ...block, output: `${mark}\n${outputText(block)}` }
    case 'image':
      return { ...block, data: mark }
    case 'error':
      return { ...block, message: `${mark}\n${block.message}`, code: `code-${mark}` }
    case 'unknown':
      return { ...block, raw: { ...(block.raw as { [key: string]: Json }), mark } }
  }
}

/** Every optional fact set, and different on every entry. */
function enriched({ session, entries }: Given, uuids: boolean): Given {
  const idOf = (index: number): string =>
    uuids ? `00000000-0000-4000-8000-${String(index).padStart(12, '0')}` : `entry-${index}`
  return {
    session: {
      title: 'a title',
      agent: 'an-agent',
      model: 'a-model',
      cwd: '/a/folder',
      version: '1.2.3',
      stopReason: 'end_turn',
      input: { ticket: 1 },
      ...session,
      native: { agent: 'some-agent', sessionId: 'native-1' },
      names: { other: 'other-name' },
      recordings: [{ by: 'proxy' }],
      git: { branch: 'main', commit: 'abc', remote: 'origin' },
      parent: { session: 'before', citation: 'before#1' },
      tags: { team: 'x' },
      reportedUsage: { input: 3, cacheRead: 4, output: 5, reasoning: 1, quality: 'reported', raw: { a: 1 } },
      reportedCost: '0.25',
      metadata: { other: { key: 'value' } },
    },
    entries: entries.map((entry, index) => ({
      ...entry,
      id: idOf(index),
      parent: index === 0 ? null : idOf(Math.max(0, index - 2)),
      model: `model-${index}`,
      usage: {
        input: index + 1,
        cacheRead: index + 2,
        cacheWrite1h: index + 3,
        output: index + 4,
        reasoning: 1,
        quality: entry.usage?.quality ?? 'reported',
        raw: { provider: index },
      },
      stopReason: `stop-${index}`,
      durationMs: 1000 + index,
      call: { provider: 'openai', requestId: `request-${index}`, messageId: `message-${index >> 1}` },
      metadata: { extra: `extra-${index}` },
    })),
  }
}

/** Facts of the session that are neither there nor reported. */
function silentOfSession(session: Session, back: readonly Transcript[], { lost, filled }: Written): string[] {
  const words = [...lost, ...filled]
    .filter(({ entry }) => entry === undefined)
    .flatMap(({ what }) => wordsOf(what))
  if (words.includes('the whole session'))
    return back.length === 0 ? [] : ['a session that was said to be lost']
  // Of a step's subagents swarm makes sessions of their own: the whole's own is the one that states its agent. Those of agents' logs
  // name the one that started them.
  const own =
    back.find(({ session: { run } }) => run?.agentKey === (session.run?.agentKey ?? 'unknown')) ??
    back.find((one) => one.session.parent === undefined) ??
    back[0]
  const given = factsOf(session)
  const read = factsOf(own?.session)
  return [...given].flatMap(([word, value]) =>
    read.get(word) === value || words.includes(word) ? [] : [word],
  )
}

/** A session's facts by the words that reports have for them. */
function factsOf(session: Session | undefined): Map<string, string> {
  const { run, git, names, reportedUsage, metadata, status } = session ?? {}
  const facts: { [word: string]: unknown } = {
    'session id': session?.id,
    'native id': session?.native,
    recordings: session?.recordings,
    title: session?.title,
    agent: session?.agent,
    model: session?.model,
    'run id': run?.id,
    flow: run?.flow,
    step: run?.step,
    node: run?.node,
    'agent key': run?.agentKey,
    engine: run?.engine,
    thread: session?.thread,
    chat: session?.chat,
    mode: session?.mode,
    cwd: session?.cwd,
    'git branch': git?.branch,
    'git commit': git?.commit,
    'git remote': git?.remote,
    version: session?.version,
    'start time': session?.startedAt,
    'end time': session?.endedAt,
    [`status ${status ?? ''}`]: status,
    error: session?.error,
    'stop reason': session?.stopReason,
    input: session?.input,
    parent: session?.parent,
    stub: session?.stub,
    tags: session?.tags,
    'reported usage': reportedUsage,
    'reported cost': session?.reportedCost,
    metadata: metadata?.['other'],
    'other name': names?.['other'],
  }
  return new Map(
    Object.entries(facts).flatMap(([word, value]) =>
      value === undefined ? [] : [[word, toJson(inOrder(value))]],
    ),
  )
}

/** Keys by their names: their order says nothing. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, inOrder(value[key])]),
  )
}

/** Facts of entries and blocks that are neither there nor reported, as `<entry>: <fact>`. */
function silentOfEntries({ entries }: Given, back: readonly Transcript[], written: Written): string[] {
  // All that is given are messages: a record that is kept whole is its agent's own, and may repeat what they say.
  const read = back.flatMap((transcript) => transcript.entries.filter((entry) => !isOwnRecord(entry)))
  const calls = new Map(
    entries
      .flatMap(({ blocks }) => blocks)
      .flatMap((block) => (block.type === 'tool-call' ? [[block.callId, block.name]] : [])),
  )
  const told = (id: string): Set<string> =>
    new Set(
      [...written.lost, ...written.filled]
        .filter(({ entry }) => entry === id)
        .flatMap(({ what }) => wordsOf(what)),
    )
  // A turn or unit may be written without any block of its entry, on its own or with another entry of the same provider message:
  // then whichever could be it may hold its facts.
  const empty = read.filter(({ kind, blocks }) => kind === 'message' && marksIn(toJson(blocks)).length === 0)
  const stands = (index: number): readonly Entry[] =>
    read.filter(({ blocks }) => marksIn(toJson(blocks)).some((mark) => mark.startsWith(`#${index}.`)))
  const imagesOf = (entry: Entry, index: number): readonly Entry[] => {
    const found = stands(index)
    if (found.some(({ role }) => role === entry.role)) return found
    const message = entry.call?.messageId
    const shared = entries.flatMap(({ call }, at) =>
      message !== undefined && call?.messageId === message ? stands(at) : [],
    )
    const possible = [...empty, ...shared].filter(
      ({ source, role }) => (source === entry.source || told(entry.id).has('source')) && role === entry.role,
    )
    return [...found, ...possible]
  }
  const silent = entries.flatMap((entry, index) => {
    const words = told(entry.id)
    if (words.has('the whole entry')) return []
    const marks = entry.blocks.map((_, at) => `#${index}.${at}#`)
    const images = imagesOf(entry, index)
    const isChain = written.files.has(FILE_NAME) || isCodex(written.files)
    const before = isChain
      ? entries.slice(0, index).findLast(({ source }) => source === entry.source)?.id
      : undefined
    const facts = [
      ...entryLosses(entry, images, before),
      ...entry.blocks.flatMap((block, at) =>
        blockLosses(block, findBlock(images, marks[at] as string), calls),
      ),
      ...(isTogether(stands(index), index) ? [] : ['block boundaries|that it is an entry of its own']),
    ]
    return facts
      .filter((fact) => !fact.split('|').some((word) => words.has(word)))
      .map((fact) => `${index}: ${fact}`)
  })
  return [...silent, ...movedInSilence(entries, read, told)]
}

const isOwnRecord = ({ kind, blocks }: Entry): boolean =>
  kind === 'event' && blocks.every(({ type }) => type === 'unknown')

const isCodex = (files: MemoryFiles): boolean => [...files.keys()].some((path) => path.includes('/rollout-'))

/** `before` is the id of the entry before it, where the order alone makes that its parent. */
function entryLosses(entry: Entry, images: readonly Entry[], before: string | undefined): string[] {
  const has = (test: (image: Entry) => boolean): boolean => images.some(test)
  const lost: string[] = []
  const check = (word: string, value: unknown, of: (image: Entry) => unknown): void => {
    if (value !== undefined && !has((image) => toJson(of(image) ?? null) === toJson(value))) lost.push(word)
  }
  check('entry id', entry.id, ({ id }) => id)
  check('source', entry.source, ({ source }) => source)
  check('role', entry.role, ({ role }) => role)
  check('role', entry.kind, ({ kind }) => kind)
  check('time|nanoseconds', entry.at, ({ at }) => at)
  check('model', entry.model, ({ model }) => model)
  check('stop reason', entry.stopReason, ({ stopReason }) => stopReason)
  check('duration', entry.durationMs, ({ durationMs }) => durationMs)
  check('provider', entry.call?.provider, ({ call }) => call?.provider)
  check('request id', entry.call?.requestId, ({ call }) => call?.requestId)
  check('message id', entry.call?.messageId, ({ call }) => call?.messageId)
  if (entry.usage !== undefined) {
    const { usage } = entry
    check('usage', promptTokens(usage), (image) => image.usage && promptTokens(image.usage))
    check('usage', usage.output, (image) => image.usage?.output)
    for (const count of ['cacheRead', 'cacheWrite5m', 'cacheWrite1h'] as const)
      check('usage|cache tokens', usage[count], (image) => image.usage?.[count])
    check('usage|reasoning tokens', usage.reasoning, (image) => image.usage?.reasoning)
    check('usage|usage quality', usage.quality, (image) => image.usage?.quality)
    check("usage|provider's usage", usage.raw, (image) => image.usage?.raw)
  }
  const extra = entry.metadata?.['extra']
  if (
    extra !== undefined &&
    !has(({ metadata }) => toJson(metadata ?? {}).includes(`"extra":${toJson(extra)}`))
  )
    lost.push('metadata')
  const follows = typeof entry.parent === 'string' && entry.parent !== before
  if (follows && !has(({ parent }) => typeof parent === 'string')) lost.push('parent')
  if (entry.at === undefined && images.length > 0 && !has(({ at }) => at === undefined))
    lost.push(TIME_FILLERS)
  return lost
}

/** What each format calls the time that it had to fill in. */
const TIME_FILLERS = 'timestamp|created_at|Time Range|time|that it is an entry of its own'

function blockLosses(block: Block, image: Block | undefined, calls: ReadonlyMap<unknown, unknown>): string[] {
  const word = KINDS[block.type]
  if (image === undefined) return [word]
  if (image.type !== block.type) return [`${word}|error kept as text|text kept as a result`]
  const lost: string[] = []
  for (const [key, value] of Object.entries(block)) {
    const read = (image as { [key: string]: unknown })[key]
    if (toJson(read ?? null) === toJson(value)) continue
    if (key === 'name' && block.type === 'tool-result' && calls.get(block.callId) === value) continue
    lost.push(FIELDS[key] ?? `${word} ${key}`)
  }
  return lost
}

const KINDS: Readonly<Record<Block['type'], string>> = {
  text: 'text',
  thinking: 'thinking',
  'tool-call': 'tool-call',
  'tool-result': 'tool-result',
  image: 'an image',
  error: 'an error',
  unknown: 'an unknown block',
}

const CUT = 'where the text ends: it holds a line that reads as a mark'
const FIELDS: { readonly [key: string]: string } = {
  callId: 'tool call id|which call a result answers',
  name: 'tool name|which call a result answers',
  isError: 'that the tool failed|that a result is an error',
  error: 'error kept as output|error beside output',
  output: `output of a failed tool kept as its error|a tool-result beyond 200 characters|${CUT}`,
  input: `a tool-call beyond 200 characters|${CUT}`,
  text: `block boundaries|that it is an entry of its own|${CUT}`,
  message: `block boundaries|${CUT}`,
  code: 'error code',
}

function findBlock(images: readonly Entry[], mark: string): Block | undefined {
  return images.flatMap(({ blocks }) => blocks).find((block) => toJson(block).includes(mark))
}

/** What there is of an entry is still one entry, and no other is in it. */
function isTogether(found: readonly Entry[], index: number): boolean {
  const marks = found.flatMap(({ blocks }) => marksIn(toJson(blocks)))
  return found.length <= 1 && marks.every((mark) => mark.startsWith(`#${index}.`))
}

function marksIn(text: string): string[] {
  return text.match(/#\d+\.\d+#/g) ?? []
}

/** Blocks of one source that come in another order, unless one of the two says that it moved. */
function movedInSilence(
  entries: readonly Entry[],
  read: readonly Entry[],
  told: (id: string) => ReadonlySet<string>,
): string[] {
  const place = new Map(read.flatMap(({ blocks }) => marksIn(toJson(blocks))).map((mark, at) => [mark, at]))
  const given = entries.flatMap(({ id, source, blocks }, index) =>
    blocks.flatMap((_, at) => {
      const mark = `#${index}.${at}#`
      const found = place.get(mark)
      return found === undefined ? [] : [{ id, source, mark, at: found, moved: hasMoved(told(id)) }]
    }),
  )
  return given.flatMap((one, index) =>
    given
      .slice(index + 1)
      .filter((other) => other.source === one.source && other.at < one.at && !one.moved && !other.moved)
      .map((other) => `${other.mark} before ${one.mark}`),
  )
}

function hasMoved(words: ReadonlySet<string>): boolean {
  return words.has('its place in the order') || words.has('block boundaries')
}

/** The facts that a note names: `entry id, model` are two, and what follows a colon explains. */
function wordsOf(what: string): string[] {
  if (what.startsWith('where the text ends')) return [what]
  return what.split(', ').flatMap((word) => [word, word.replace(/:.*$/, '')])
}
