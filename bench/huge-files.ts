/** Files larger than memory may be, made in pieces: logs, one endless line, documents of every format that has them, and bombs. */
import fs from 'node:fs'
import zlib from 'node:zlib'
import { sampleText } from './samples.ts'

/** Until there are so many bytes, and then the end. */
export function writePieces(path: string, size: number, next: (n: number) => string, end = ''): void {
  const file = fs.openSync(path, 'w')
  let written = 0
  let text = ''
  for (let n = 0; written + text.length < size; n += 1) {
    text += next(n)
    if (text.length > 4_000_000) {
      written += fs.writeSync(file, text)
      text = ''
    }
  }
  fs.writeSync(file, text + end)
  fs.closeSync(file)
}

const PROMPT = sampleText(300, 1)
const ANSWER = sampleText(900, 2)
const at = (n: number): string => new Date(1_770_000_000_000 + n * 1000).toISOString()

/** A line of Claude Code's; every second one is an answer with a call of its own. */
export function claudeRecord(session: string, n: number, answer = ANSWER): string {
  const shared = `"uuid":"u${n}","parentUuid":${n === 0 ? 'null' : `"u${n - 1}"`},"sessionId":"${session}","cwd":"/home/me/project","version":"2.1.0","userType":"external","isSidechain":false,"timestamp":"${at(n)}"`
  if (n % 2 === 0)
    return `{"type":"user",${shared},"message":{"role":"user","content":${JSON.stringify(PROMPT)}}}\n`
  const usage = '{"input_tokens":10,"cache_read_input_tokens":1000,"output_tokens":5}'
  return `{"type":"assistant",${shared},"requestId":"req_${session.slice(0, 8)}_${n}","message":{"id":"msg_${session.slice(0, 8)}_${n}","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":${JSON.stringify(answer)}}],"stop_reason":"end_turn","usage":${usage}}}\n`
}

export type Damage = 'whole' | 'cut' | 'garbage'

export type DocumentKind = {
  /** Below a folder that is looked into. */
  readonly path: string
  readonly begin: string
  readonly element: (n: number) => string
  readonly end: string
}

const said = JSON.stringify(ANSWER)

/** What is one JSON document however long the session is. */
export const DOCUMENTS: Readonly<Record<string, DocumentKind>> = {
  'gemini-cli': {
    path: 'tmp/p/chats/session-1.json',
    begin:
      '{"sessionId":"5f1b0c1e-0000-4000-8000-000000000001","projectHash":"p","startTime":"2026-02-02T00:00:00.000Z","messages":[\n',
    element: (n) =>
      n % 2 === 0
        ? `{"id":"m${n}","timestamp":"${at(n)}","type":"user","content":${said}}`
        : `{"id":"m${n}","timestamp":"${at(n)}","type":"gemini","content":${said},"model":"gemini-2.5-pro","tokens":{"input":100,"output":5,"cached":10,"thoughts":1,"tool":0,"total":106}}`,
    end: '],"lastUpdated":"2026-02-03T00:00:00.000Z"}',
  },
  opencode: {
    path: 'export.json',
    begin:
      '{"info":{"id":"ses_1","title":"a long one","version":"1.2.0","directory":"/home/me/project","time":{"created":1770000000000,"updated":1770000001000}},"messages":[\n',
    element: (n) =>
      n % 2 === 0
        ? `{"info":{"id":"msg_${n}","sessionID":"ses_1","role":"user","time":{"created":${1_770_000_000_000 + n}}},"parts":[{"id":"prt_${n}","messageID":"msg_${n}","sessionID":"ses_1","type":"text","text":${said}}]}`
        : `{"info":{"id":"msg_${n}","sessionID":"ses_1","role":"assistant","modelID":"claude-sonnet-4-5","providerID":"anthropic","cost":0,"tokens":{"input":10,"output":5,"reasoning":0,"cache":{"read":1000,"write":0}},"time":{"created":${1_770_000_000_000 + n},"completed":${1_770_000_000_100 + n}}},"parts":[{"id":"prt_${n}","messageID":"msg_${n}","sessionID":"ses_1","type":"text","text":${said}}]}`,
    end: ']}',
  },
  devflow: {
    path: '.devflow/runs/2026-02-02-flow-1/transcript.json',
    begin:
      '{"runId":"2026-02-02-flow-1","metadata":{"flowId":"flow","nodeId":"node","status":"completed","startedAt":"2026-02-02T00:00:00Z","endedAt":"2026-02-02T01:00:00Z"},"turns":[\n',
    element: (n) =>
      `{"id":${n + 1},"role":"${n % 2 === 0 ? 'user' : 'assistant'}","content":${said},"timestamp":"${at(n)}","tokensIn":${n % 2 === 0 ? 0 : 10},"tokensOut":${n % 2 === 0 ? 0 : 5}}`,
    end: ']}',
  },
  'cline, sent': {
    path: 'tasks/1770000000000/api_conversation_history.json',
    begin: '[\n',
    element: (n) =>
      `{"role":"${n % 2 === 0 ? 'user' : 'assistant'}","content":[{"type":"text","text":${said}},{"type":"text","text":"<environment_details>\\n# Current Mode\\n</environment_details>"}],"ts":${1_770_000_000_000 + n}}`,
    end: ']',
  },
  'cline, shown': {
    path: 'tasks/1770000000000/ui_messages.json',
    begin: '[\n',
    element: (n) =>
      n % 2 === 0
        ? `{"ts":${1_770_000_000_000 + n},"type":"say","say":"api_req_started","text":${JSON.stringify(JSON.stringify({ request: PROMPT, tokensIn: 10, tokensOut: 5, cacheReads: 1000, cost: 0.01 }))},"conversationHistoryIndex":${n}}`
        : `{"ts":${1_770_000_000_000 + n},"type":"say","say":"text","text":${said},"conversationHistoryIndex":${n}}`,
    end: ']',
  },
  "cline's CLI": {
    path: 'sessions/1770000000000_abcde/1770000000000_abcde.messages.json',
    begin:
      '{"version":1,"agent":"cline","sessionId":"1770000000000_abcde","updated_at":"2026-02-02T00:00:00.000Z","messages":[\n',
    element: (n) =>
      `{"id":"m${n}","role":"${n % 2 === 0 ? 'user' : 'assistant'}","content":[{"type":"text","text":${said}}],"ts":${1_770_000_000_000 + n}}`,
    end: ']}',
  },
}

/** `cut`: it ends in an element. `garbage`: bytes that are no JSON, and NULs, in the middle of it, and all is there behind. */
export function writeDocument(path: string, kind: DocumentKind, size: number, damage: Damage): void {
  writePieces(
    path,
    size,
    (n) => `${n === 0 ? kind.begin : ',\n'}${kind.element(n)}`,
    damage === 'cut' ? ',\n{"id":"the last","content":"it ends he' : kind.end,
  )
  if (damage !== 'garbage') return
  const file = fs.openSync(path, 'r+')
  const middle = Math.floor(fs.fstatSync(file).size / 2)
  const garbage = Buffer.concat([Buffer.alloc(3000), Buffer.from('"}]\u00FF{{'.repeat(300), 'latin1')])
  fs.writeSync(file, garbage, 0, garbage.length, middle)
  fs.closeSync(file)
}

/** Of pieces one after the other, until so many bytes come out of it again. */
export async function writeGzip(
  path: string,
  size: number,
  next: (n: number) => Buffer,
  level = 6,
): Promise<void> {
  // Large pieces: each goes to another thread and back.
  const gzip = zlib.createGzip({ level, chunkSize: 1024 * 1024 })
  const out = fs.createWriteStream(path)
  gzip.pipe(out)
  let written = 0
  for (let n = 0; written < size; n += 1) {
    const piece = next(n)
    written += piece.length
    if (!gzip.write(piece)) await new Promise<void>((resolve) => gzip.once('drain', () => resolve()))
  }
  gzip.end()
  await new Promise<void>((resolve) => out.once('close', () => resolve()))
}

/**
 * A Zstandard frame by hand, for Node 20 has no compressor: blocks that repeat one byte 128 KB long (RFC 8878, 3.1.1.2), four bytes
 * each.
 */
export function writeZstdBomb(path: string, byte: number, size: number): void {
  const block = 128 * 1024
  const count = Math.ceil(size / block)
  const body = Buffer.alloc(count * 4)
  for (let n = 0; n < count; n += 1) {
    const isLast = n === count - 1 ? 1 : 0
    body.writeUIntLE((block << 3) | (1 << 1) | isLast, n * 4, 3)
    body[n * 4 + 3] = byte
  }
  // Magic, no content size and no checksum, a window of 1 MB.
  fs.writeFileSync(path, Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]), body]))
}

/** A zip file whose members are all the same packed bytes, each under 4 GB: what holds more needs another kind of directory. */
export async function writeZip(
  path: string,
  names: readonly string[],
  piece: Buffer,
  size: number,
): Promise<void> {
  const times = Math.ceil(size / piece.length)
  const bytes = { crc: 0, length: times * piece.length }
  for (let n = 0; n < times; n += 1) bytes.crc = zlib.crc32(piece, bytes.crc)
  // What gzip puts around its bytes is ten before and eight behind.
  await writeGzip(`${path}.gz`, size, () => piece)
  const packed = fs.readFileSync(`${path}.gz`).subarray(10, -8)
  fs.rmSync(`${path}.gz`)
  const file = fs.openSync(path, 'w')
  const directory: Buffer[] = []
  let offset = 0
  for (const name of names) {
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(8, 4)
    shared.writeUInt32LE(bytes.crc, 10)
    shared.writeUInt32LE(packed.length, 14)
    shared.writeUInt32LE(bytes.length, 18)
    shared.writeUInt16LE(name.length, 22)
    const own = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name)])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), shared, rest, Buffer.from(name))
    offset += fs.writeSync(file, own) + fs.writeSync(file, packed)
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  end.writeUInt16LE(names.length, 8)
  end.writeUInt16LE(names.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  fs.writeSync(file, Buffer.concat([listed, end]))
  fs.closeSync(file)
}

/** A zip file whose members lie there as they are: files by their path, or bytes. What it holds in all is under 4 GB. */
export function writeStoredZip(
  path: string,
  members: readonly (readonly [name: string, content: string | Buffer])[],
): void {
  const file = fs.openSync(path, 'w')
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of members) {
    const pieces = (): Iterable<Buffer> => (typeof content === 'string' ? piecesOf(content) : [content])
    let [crc, length] = [0, 0]
    for (const piece of pieces()) {
      crc = zlib.crc32(piece, crc)
      length += piece.length
    }
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt32LE(crc, 10)
    shared.writeUInt32LE(length, 14)
    shared.writeUInt32LE(length, 18)
    shared.writeUInt16LE(name.length, 22)
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), shared, rest, Buffer.from(name)]))
    offset += fs.writeSync(file, Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name)]))
    for (const piece of pieces()) offset += fs.writeSync(file, piece)
  }
  const listed = Buffer.concat(directory)
  // More than 65,535 are counted in a record of its own, which another one says the place of.
  const large = Buffer.alloc(76)
  large.write('PK\x06\x06')
  large.writeBigUInt64LE(44n, 4)
  for (const at of [24, 32]) large.writeBigUInt64LE(BigInt(members.length), at)
  large.writeBigUInt64LE(BigInt(listed.length), 40)
  large.writeBigUInt64LE(BigInt(offset), 48)
  large.write('PK\x06\x07', 56)
  large.writeBigUInt64LE(BigInt(offset + listed.length), 64)
  large.writeUInt32LE(1, 72)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06')
  for (const at of [8, 10]) end.writeUInt16LE(Math.min(members.length, 0xffff), at)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  fs.writeSync(file, Buffer.concat([listed, large, end]))
  fs.closeSync(file)
}

function* piecesOf(path: string): Generator<Buffer> {
  const file = fs.openSync(path, 'r')
  const piece = Buffer.alloc(4_000_000)
  for (let read = fs.readSync(file, piece); read > 0; read = fs.readSync(file, piece))
    yield piece.subarray(0, read)
  fs.closeSync(file)
}
