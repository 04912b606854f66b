/**
 * A unit with a line or a document of many MB is read while no other such is: what one thread may hold of it, several may not. A source
 * whose files ask for leave when they come to one.
 */
import { createRequire } from 'node:module'
import type { ChunkOptions, SourceFile } from '../transcript/source.ts'
import { mapped } from '../transcript/made-list.ts'
import { ListedFile, withOwn, type OpenListed } from './listed-file.ts'
import type { OpenSource } from './open.ts'

/** Without the end of a line among them. */
const LARGE_BYTES = 2 * 1024 * 1024

const NEWLINE = 0x0a

/** `enter` comes back when nobody else is at such a unit; asked once. `onLong`: told of rows of a database that are many MB. */
export function oneAtATime(
  source: OpenSource,
  enter: () => Promise<void>,
  onLong: () => void = () => {},
): OpenSource {
  const open: OpenListed<SourceFile> = (_, file) => {
    const own = withOwn(file, {
      chunks: (options) => gated(file, enter, options),
      async bytes(limit) {
        if (file.sizeBytes > LARGE_BYTES) await enter()
        return file.bytes(limit)
      },
    })
    // Not before it is asked for: a list may be of a hundred thousand files.
    return Object.defineProperty(own, 'database', { get: () => collecting(file.database, enter, onLong) })
  }
  const gate = (file: SourceFile): SourceFile => new ListedFile(file, file, open)
  return {
    ...source,
    list: async () => mapped(await source.list(), gate),
    async find(path) {
      const file = await source.find(path)
      return file && gate(file)
    },
  }
}

async function* gated(
  file: SourceFile,
  enter: () => Promise<void>,
  options: ChunkOptions | undefined,
): AsyncGenerator<Buffer> {
  let since = 0
  let passed = 0
  for await (const chunk of file.chunks(options)) {
    const last = chunk.lastIndexOf(NEWLINE)
    since = last === -1 ? since + chunk.length : chunk.length - last - 1
    if (since > LARGE_BYTES) {
      await enter()
      passed += chunk.length
    }
    yield chunk
    // V8 sees how large texts are only when it is too late, and of bytes outside its heap it knows little. In the middle of one, too:
    // what is left of the one before it would be there until this one has been parsed.
    if (passed > COLLECT_BYTES) {
      collect()
      passed = 0
    }
  }
}

/** Of what is large, until what is left of it is let go. */
const COLLECT_BYTES = 8 * 1024 * 1024

/** Rows of a database, until what is left of them is let go: V8 would wait until there is twice as much as is needed. */
const COLLECT_ROWS = 20_000

/** What is left of rows that were read is let go of before there is much of it. `enter`: before a row of many MB. */
export function collecting(
  open: SourceFile['database'],
  enter: () => Promise<void> = async () => {},
  onLong: () => void = () => {},
): SourceFile['database'] {
  if (open === undefined) return undefined
  return async () => {
    const database = await open()
    let rows = 0
    let bytes = 0
    /** Nothing was given since it was let go of. */
    let isClean = false
    const letGo = (): void => {
      if (!isClean) collect()
      isClean = true
      rows = 0
    }
    const large = async (more: number): Promise<void> => {
      if (more > LARGE_BYTES) await enter()
      bytes += more
      // Of the rows before it, and of what was read to find it.
      if (bytes <= COLLECT_BYTES) return
      letGo()
      onLong()
    }
    return {
      ...database,
      async *rows(table, options) {
        for await (const batch of database.rows(table, { ...options, large })) {
          rows += batch.length
          yield batch
          isClean = false
          if (rows < COLLECT_ROWS && bytes <= COLLECT_BYTES) continue
          letGo()
          bytes = 0
        }
      },
    }
  }
}

type Collector = (options?: { readonly type: 'minor' }) => void

let collector: Collector | undefined

/** Lets go of what nobody needs any more, now. */
export function collect(): void {
  collectorOf()()
}

/** The same of what is new, which takes a fraction of a millisecond where little of it is needed any longer. */
export function collectYoung(): void {
  collectorOf()({ type: 'minor' })
}

function collectorOf(): Collector {
  if (collector !== undefined) return collector
  // Only here: with what it needs in turn, the module takes as long to load as reading a short log.
  const load = createRequire(import.meta.url)
  const v8 = load('node:v8') as { setFlagsFromString(flags: string): void }
  const vm = load('node:vm') as { runInNewContext(code: string): unknown }
  v8.setFlagsFromString('--expose-gc')
  const gc = vm.runInNewContext('gc')
  // Nobody else’s contexts should have it.
  v8.setFlagsFromString('--no-expose-gc')
  return (collector =
    typeof gc === 'function' ? (...options) => void Reflect.apply(gc, undefined, options) : () => {})
}
