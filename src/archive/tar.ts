/**
 * Tar, as little of it as archiving a folder needs: regular files in POSIX ustar, long names by pax, or as GNU has them. Pure
 * bytes.
 *
 * Reading takes archives from anywhere, so it is strict: a link, a device, a path that is absolute or climbs, a bad checksum or a
 * size over the limit ends it with an error before anything of that entry is given.
 */
import { HansardError } from '../errors.ts'
import { createByteInput } from './byte-input.ts'
import { broken, paxRecord, readPax, type Pax } from './tar-pax.ts'

export type TarEntry = {
  /** With `/`, relative. */
  readonly path: string
  readonly sizeBytes: number
  /** Seconds since 1970. */
  readonly modified: number
}

/** `file` opens an entry; `bytes` are its content, in order, until the next one opens. */
export type TarItem =
  | { readonly type: 'file'; readonly entry: TarEntry }
  | { readonly type: 'bytes'; readonly bytes: Buffer }

export type TarLimits = {
  /** Of one file and of all together, uncompressed. */
  readonly maxBytes: number
  readonly maxFiles: number
  /**
   * Takes what other programs pack: told of each link, device, path that leaves the folder, and file with holes, which is then
   * passed over. Without it, one of them ends the reading, and so do names that we never write.
   */
  readonly passedOver?: (path: string, why: PassedOver) => void
}

/** `link`: also a device. `sparse`: a file whose holes are left out, which nobody but tar can put together. */
export type PassedOver = 'link' | 'unsafe-path' | 'sparse'

const BLOCK = 512
/** What an octal size of 11 digits can say: 8 GB. Larger files are refused when writing. */
const MAX_SIZE = 0o77777777777
/** Beside pax of one entry: pax of all, GNU's names of an entry and of what a link leads to. */
const NAMES: ReadonlySet<string> = new Set(['g', 'L', 'K'])
/** A pax header holds a path, not a payload. */
const MAX_PAX = 64 * 1024

/** An entry's header, after which its bytes and `tarPadding` follow. */
export function tarHeader({ path, sizeBytes, modified }: TarEntry): Buffer {
  checkPath(path)
  if (sizeBytes > MAX_SIZE) throw new HansardError('too-large', `${path} does not fit into a tar file`)
  const split = splitPath(path)
  if (split !== undefined) return header(split, sizeBytes, modified, '0')
  const record = paxRecord('path', path)
  const short = { name: 'pax', prefix: '' }
  return Buffer.concat([
    header(short, record.length, modified, 'x'),
    record,
    tarPadding(record.length),
    header({ name: `long-${path.length}`, prefix: '' }, sizeBytes, modified, '0'),
  ])
}

/** Zeros up to the next whole block. */
export function tarPadding(sizeBytes: number): Buffer {
  return Buffer.alloc((BLOCK - (sizeBytes % BLOCK)) % BLOCK)
}

/** Two empty blocks. */
export function tarEnd(): Buffer {
  return Buffer.alloc(BLOCK * 2)
}

/** Throws `not-a-transcript` for what is no tar file or ends early, `unsafe-path` and `too-large` for what must not be unpacked. */
export async function* readTar(chunks: AsyncIterable<Buffer>, limits: TarLimits): AsyncGenerator<TarItem> {
  const input = createByteInput(chunks)
  let total = 0
  let files = 0
  let pax: Pax = {}
  const { passedOver } = limits
  const isForeign = passedOver !== undefined
  for (;;) {
    const block = await input.take(BLOCK)
    if (block === undefined) throw broken('it ends without its end mark')
    if (isZero(block)) return input.drain(limits.maxBytes)
    const { type, modified, ...said } = parseHeader(block)
    if (type === 'x' || (isForeign && NAMES.has(type))) {
      if (said.sizeBytes > MAX_PAX) throw broken('a name is too long')
      const record = await input.take(said.sizeBytes)
      if (record === undefined) throw broken('it ends inside a name')
      if (type === 'x') pax = { ...pax, ...readPax(record, isForeign) }
      else if (type === 'L') pax = { ...pax, path: text(record, 0, record.length) }
      await input.skip(tarPadding(said.sizeBytes).length)
      continue
    }
    const { path: named = said.path, sizeBytes = said.sizeBytes, isSparse } = pax
    pax = {}
    // Programs that were asked for `.` begin every path with it.
    const entry = { path: isForeign ? named.replace(/^(?:\.\/)+/, '') : named, sizeBytes, modified }
    if (type === '5') {
      if (!isForeign) checkPath(entry.path.replace(/\/$/, ''))
      continue
    }
    if (passedOver !== undefined) {
      const why = reasonAgainst(type, entry.path, isSparse === true)
      if (why !== undefined) {
        passedOver(entry.path, why)
        await input.skip(sizeBytes + tarPadding(sizeBytes).length)
        continue
      }
    } else if (!isFile(type))
      throw new HansardError('unsafe-path', 'the tar file holds a link or device, which is not unpacked')
    else checkPath(entry.path)
    total += sizeBytes
    files += 1
    if (total > limits.maxBytes || files > limits.maxFiles)
      throw new HansardError(
        'too-large',
        `the tar file holds more than ${limits.maxBytes} bytes or ${limits.maxFiles} files`,
      )
    yield { type: 'file', entry }
    for (let left = sizeBytes; left > 0;) {
      const bytes = await input.some(left)
      if (bytes === undefined) throw broken('it ends inside a file')
      left -= bytes.length
      yield { type: 'bytes', bytes }
    }
    await input.skip(tarPadding(sizeBytes).length)
  }
}

type Name = { readonly name: string; readonly prefix: string }

function header({ name, prefix }: Name, sizeBytes: number, modified: number, type: string): Buffer {
  const block = Buffer.alloc(BLOCK)
  block.write(name, 0, 100)
  block.write(octal(0o600, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(sizeBytes, 11), 124)
  block.write(octal(Math.max(0, Math.trunc(modified)), 11), 136)
  block.write(type, 156)
  block.write('ustar\0', 257)
  block.write('00', 263)
  block.write(prefix, 345, 155)
  block.write(`${octal(checksum(block), 6)}\0 `, 148)
  return block
}

/** A path in the header's two fields, or undefined when it does not fit and needs a pax header. */
function splitPath(path: string): Name | undefined {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' }
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)]
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { name, prefix }
  }
  return undefined
}

function parseHeader(block: Buffer): TarEntry & { readonly type: string } {
  const sum = parseOctal(block, 148, 8)
  const blank = Buffer.from(block)
  blank.fill(0x20, 148, 156)
  if (sum === undefined || sum !== checksum(blank)) throw broken('a header has the wrong checksum')
  const sizeBytes = parseOctal(block, 124, 12)
  if (sizeBytes === undefined) throw broken('a header has no size')
  const prefix = block.toString('latin1', 257, 262) === 'ustar' ? text(block, 345, 155) : ''
  const name = text(block, 0, 100)
  return {
    type: String.fromCharCode(block[156] as number),
    path: prefix === '' ? name : `${prefix}/${name}`,
    sizeBytes,
    modified: parseOctal(block, 136, 12) ?? 0,
  }
}

/** Of all bytes, with the checksum's own field taken as spaces. */
function checksum(block: Buffer): number {
  let sum = 0
  for (const [index, byte] of block.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte
  return sum
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

function parseOctal(block: Buffer, from: number, length: number): number | undefined {
  // GNU has sizes past 8 GB in binary.
  if (block[from] === 0x80) {
    const value = block.readBigUInt64BE(from + length - 8)
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : undefined
  }
  const digits = block
    .toString('latin1', from, from + length)
    .replaceAll('\0', ' ')
    .trim()
  return /^[0-7]{1,12}$/.test(digits) ? Number.parseInt(digits, 8) : undefined
}

function text(block: Buffer, from: number, length: number): string {
  const field = block.subarray(from, from + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end === -1 ? length : end)
}

function isFile(type: string): boolean {
  return type === '0' || type === '\0'
}

function reasonAgainst(type: string, path: string, isSparse: boolean): PassedOver | undefined {
  if (isSparse || type === 'S') return 'sparse'
  if (!isFile(type)) return 'link'
  return isUnsafe(path) ? 'unsafe-path' : undefined
}

function checkPath(path: string): void {
  if (!isUnsafe(path)) return
  throw new HansardError(
    'unsafe-path',
    `the tar file holds a path that leaves its folder: ${JSON.stringify(path.slice(0, 80))}`,
  )
}

function isUnsafe(path: string): boolean {
  const parts = path.split('/')
  return /[\0\\]/.test(path) || parts.some((part) => part === '' || part === '.' || part === '..')
}

function isZero(block: Buffer): boolean {
  return block.every((byte) => byte === 0)
}
