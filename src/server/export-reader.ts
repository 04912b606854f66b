/**
 * A session as one page to keep or to give away: the reader of our page, and all that it shows, in one file that opens from a disk and
 * asks nobody for anything. What was recorded stands in blocks of JSON, which no browser runs, a hundred entries each, so that the reader
 * holds only what is in sight. The page's policy allows the one script and the one style by their hashes, and nothing else.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { join } from 'node:path'
import { isBlobRef, type Block } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import { toJson } from '../transcript/json.ts'
import { visible, visibleJson } from '../replay/escape.ts'
import { VERSION } from '../version.ts'
import type { EntryRow, OutlineAnswer, RawAnswer, SessionAnswer } from './api.ts'
import type { InsightAnswer } from './api-cost.ts'
import type { SafeBlob } from './safe-blob.ts'

export type Reader = { readonly script: string; readonly style: string; readonly policy: string }

export type ReaderContent = SessionContent & {
  /** The sessions that it started, and those that they started. */
  readonly started: AsyncIterable<SessionContent>
  readonly blob: (hash: string) => Promise<SafeBlob | undefined>
  /** RFC 3339. */
  readonly at: string
}

export type SessionContent = {
  readonly answer: SessionAnswer
  readonly outline: OutlineAnswer
  readonly insight: InsightAnswer
  /** Whole, in order. */
  readonly rows: AsyncIterable<EntryRow>
  /** The record of an entry; undefined where it has none, or one that is longer. */
  readonly raw: (position: number, longest: number) => Promise<RawAnswer | undefined>
  /** After the last entry. */
  readonly damage: readonly Damage[]
}

/** Entries of a block; the reader knows it as well. */
const BLOCK = 100
/** Bytes of content by hash that are put in: of one, and of all. */
const LARGEST_BLOB = 8 * 1024 * 1024
const ALL_BLOBS = 64 * 1024 * 1024
/** Characters of records that are put in: of one, and of all. */
const LARGEST_RECORD = 64 * 1024
const ALL_RECORDS = 16 * 1024 * 1024
/** Of all sessions that were started, together. */
const ALL_STARTED = 64 * 1024 * 1024

const readers = new Map<string, Reader | undefined>()

/** The reader as it was built; undefined where it was not. */
export function loadReader(webFolder: string | undefined): Reader | undefined {
  if (webFolder === undefined) return undefined
  if (!readers.has(webFolder)) readers.set(webFolder, readReader(webFolder))
  return readers.get(webFolder)
}

function readReader(webFolder: string): Reader | undefined {
  const [js, css] = ['reader.js', 'reader.css'].map((name) => join(webFolder, 'reader', name))
  if (js === undefined || css === undefined || !fs.existsSync(js) || !fs.existsSync(css)) return undefined
  // Neither may end the element that it stands in. In a string as in a pattern, `\x3c` is the same character.
  const script = fs.readFileSync(js, 'utf8').replaceAll(/<(?=\/script|script|!--)/gi, String.raw`\x3c`)
  const style = fs.readFileSync(css, 'utf8').replaceAll(/<\//g, String.raw`\3c /`)
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')
  return { script, style, policy }
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`

/** What there still is room for. */
type Room = { blobs: number; records: number; readonly seen: Set<string> }

export async function* readerParts(
  { script, style, policy }: Reader,
  content: ReaderContent,
): AsyncGenerator<string> {
  const { answer, started, blob, at } = content
  const { row, session } = answer
  const title = row.title ?? row.prompt ?? session.title ?? row.id
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(visible(title.slice(0, 200)))} · Hansard</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript, which it has in itself. Without it: hansard show --as html makes one that needs none.</noscript>
${data('made', { version: VERSION, at })}`
  const room: Room = { blobs: ALL_BLOBS, records: ALL_RECORDS, seen: new Set() }
  yield* sessionParts('', content, blob, room)
  const ids: string[] = []
  let left = ALL_STARTED
  for await (const one of started) {
    const parts = await upTo(left, sessionParts(`s${ids.length}-`, one, blob, room))
    if (parts === undefined) continue
    left -= parts.reduce((sum, part) => sum + part.length, 0)
    ids.push(one.answer.row.id)
    yield* parts
  }
  yield data('started', ids)
  yield `<script>${script}</script>\n</body>\n</html>\n`
}

/** `prefix`: of the ids of its blocks. */
async function* sessionParts(
  prefix: string,
  { answer, outline, insight, rows, raw, damage }: SessionContent,
  blob: ReaderContent['blob'],
  room: Room,
): AsyncGenerator<string> {
  yield data(`${prefix}about`, { length: answer.length, damageAtEnd: damage })
  yield data(`${prefix}session`, answer)
  yield data(`${prefix}outline`, outline)
  yield data(`${prefix}insight`, insight)
  let some: EntryRow[] = []
  let records: (RawAnswer & { readonly position: number })[] = []
  let block = 0
  const blockParts = (): readonly string[] => [
    data(`${prefix}entries-${block}`, some),
    ...(records.length === 0 ? [] : [data(`${prefix}records-${block}`, records)]),
  ]
  for await (const one of rows) {
    some.push(one)
    yield* blobParts(one, blob, room)
    const record =
      room.records <= 0 ? undefined : await raw(one.position, Math.min(LARGEST_RECORD, room.records))
    if (record !== undefined) {
      records.push({ position: one.position, ...record })
      room.records -= record.text.length
    }
    if (some.length < BLOCK) continue
    yield* blockParts()
    block += 1
    some = []
    records = []
  }
  if (some.length > 0) yield* blockParts()
}

async function* blobParts(
  { entry }: EntryRow,
  blob: ReaderContent['blob'],
  room: Room,
): AsyncGenerator<string> {
  for (const hash of blobsOf(entry.blocks)) {
    if (room.seen.has(hash)) continue
    room.seen.add(hash)
    const found = await blob(hash)
    if (found === undefined || found.bytes.length > Math.min(LARGEST_BLOB, room.blobs)) continue
    room.blobs -= found.bytes.length
    const type = found.image ?? 'application/octet-stream'
    yield data(
      `blob-${hash.replace(/^sha256:/, '')}`,
      `data:${type};base64,${found.bytes.toString('base64')}`,
    )
  }
}

/** All of them, or undefined where they are longer together: a session is in the file whole, or not at all. */
async function upTo(most: number, parts: AsyncGenerator<string>): Promise<readonly string[] | undefined> {
  const all: string[] = []
  let length = 0
  for await (const part of parts) {
    length += part.length
    if (length > most) return undefined
    all.push(part)
  }
  return all
}

/** `id` is ours. What is in it is never markup: the one character that could begin any is written as its number. */
const data = (id: string, value: unknown): string =>
  `<script type="application/json" id="${id}">${visibleJson(toJson(value)).replaceAll('<', String.raw`\u003c`)}</script>\n`

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Hashes that are none are left out: ids are made of them. */
function blobsOf(blocks: readonly Block[]): readonly string[] {
  return blocks.flatMap((block): readonly string[] => {
    switch (block.type) {
      case 'text':
      case 'thinking':
        return hashIn(block.text)
      case 'image':
        return hashIn(block.data)
      case 'tool-call':
        return hashIn(block.inputBlob)
      case 'tool-result':
        return Array.isArray(block.output) ? blobsOf(block.output as readonly Block[]) : hashIn(block.output)
      case 'error':
      case 'unknown':
        return []
    }
  })
}

const hashIn = (content: unknown): readonly string[] =>
  isBlobRef(content) && /^sha256:[0-9a-f]{64}$/.test(content.blob) ? [content.blob] : []
