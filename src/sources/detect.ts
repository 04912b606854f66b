/** Which format some bytes are in, told by the bytes: a name or label is never believed. */
import { HansardError } from '../errors.ts'
import { chooseFiles, someOfEachSort } from '../formats/candidates.ts'
import type { Format } from '../formats/format.ts'
import { HEAD_BYTES, parseHead } from '../formats/head-records.ts'
import { raw } from '../formats/raw.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { isMade } from '../transcript/made-list.ts'
import { describeSource } from './describe.ts'
import { ListedFile, withOwn, type OpenListed } from './listed-file.ts'
import { packageKind, packageOf, wayInto } from './package-kind.ts'

export type Detected = {
  readonly format: Format
  /** From 0 to 1. */
  readonly confidence: number
  readonly reason: string
  /** The format that came next, where another one also saw its own; absent when none did that was asked, or when nothing was detected. */
  readonly runnerUp?: { readonly format: Format; readonly confidence: number; readonly reason: string }
}

export type DetectOptions = {
  readonly formats: readonly Format[]
  /** The format's id, where the user says it: nothing is detected then. */
  readonly format?: string
}

/** Closer than this, the answer could as well be the other. */
const CLOSE = 0.2

/**
 * Asks every format that could still win or come close; the surest wins, and among equals the first of the list. Each file is read once,
 * whoever looks at it. A tar or zip file is none of theirs: the logs in it, one after the other, would pass for one.
 */
export async function detect(
  source: Source,
  { formats, format: named }: DetectOptions,
): Promise<Detected | undefined> {
  if (named !== undefined) {
    const format = getFormat(named, formats)
    if (format !== raw && (await packageOf(source)) !== undefined) return undefined
    return { format, confidence: 1, reason: 'named by --format' }
  }
  const looked = withHeads(source)
  if ((await packageOf(looked)) !== undefined) return undefined
  const answers: Detected[] = []
  let surest = 0
  for (const format of formats) {
    if (format.surest !== undefined && surest - format.surest >= CLOSE) continue
    const answer = await format.detect(looked)
    if (answer === undefined) continue
    answers.push({ format, ...answer })
    surest = Math.max(surest, answer.confidence)
  }
  const [first, second] = answers.sort((a, b) => b.confidence - a.confidence)
  return first && { ...first, ...(second && { runnerUp: second }) }
}

/**
 * The format of a source, named by the user or detected. Throws `unknown-format`, saying what the source looks like, and
 * `not-a-transcript` for something packed that gives nothing.
 */
export async function identify(source: Source, options: DetectOptions): Promise<Detected> {
  const detected = await detect(source, options)
  if (detected !== undefined) return detected
  const { looks, cause } = await describeSource(source)
  if (cause === 'damage') {
    throw new HansardError('not-a-transcript', `${source.path} is ${looks}`, {
      hint: 'copy it again from where it came from',
    })
  }
  throw new HansardError('unknown-format', `${source.path} is in no format known here: it is ${looks}`, {
    hint: cause === 'unsupported' ? wayInto(source.path) : hintOf(options),
  })
}

function hintOf({ formats }: DetectOptions): string {
  const tried = formats.filter((format) => format !== raw).map(({ id }) => id)
  return `tried ${tried.join(', ')}; if it is one of these, name it with --format; --format raw takes it as it is`
}

/** True when a reader of the answer should be told of the runner-up. */
export function isAmbiguous({ confidence, runnerUp }: Detected): boolean {
  return runnerUp !== undefined && confidence - runnerUp.confidence < CLOSE
}

export function getFormat(id: string, formats: readonly Format[]): Format {
  const format = formats.find((format) => format.id === id)
  if (format !== undefined) return format
  throw new HansardError('unknown-format', `there is no format called ${JSON.stringify(id)}`, {
    hint: `use one of ${formats.map(({ id }) => id).join(', ')}; hansard formats says what they are`,
  })
}

/** Of a zip, so many of its members are looked at, and together so many of their bytes: the rest is for its directory. */
const MEMBERS = 4
const MEMBERS_BYTES = 24 * 1024

/** The same source, whose files give one and the same head to everybody who asks, and no more than that. */
function withHeads(source: Source): Source {
  let listed: Promise<readonly SourceFile[]> | undefined
  const list = async (): Promise<readonly SourceFile[]> => {
    const files = await source.list()
    if (source.isPacked !== true) {
      const asked = isMade(files) ? someOfEachSort(files) : files
      return asked.map(headsOf(HEAD_BYTES, source.kind === 'folder'))
    }
    const chosen = chooseFiles(files, MEMBERS)
    const share = Math.floor(MEMBERS_BYTES / Math.max(1, chosen.length))
    return chosen.map(headsOf(share, true))
  }
  return {
    path: source.path,
    kind: source.kind,
    list: () => (listed ??= list()),
    find: (path) => source.find(path),
  }
}

const NOTHING = Buffer.alloc(0)

/** Of a list of many, only what was asked for is held. */
function headsOf(most: number, isBeside: boolean): (file: SourceFile) => SourceFile {
  const kept = new Map<SourceFile, Promise<Buffer>>()
  const read = async (file: SourceFile): Promise<Buffer> => {
    const found = await file.head(most)
    // A tar file beside logs, or inside a zip, tells nothing of them.
    const head = isBeside && packageKind(found) !== undefined ? NOTHING : found
    // Shorter than heads are, and cut all the same.
    if (head.length === most) parseHead(head, true)
    return head
  }
  const open: OpenListed<SourceFile> = (_, file) =>
    withOwn(file, {
      ...(most !== HEAD_BYTES && { tail: undefined }),
      head(bytes) {
        // Most ask for as much as is kept: the first to come reads it for all.
        const head = kept.get(file) ?? read(file)
        kept.set(file, head)
        return bytes >= most ? head : head.then((all) => all.subarray(0, bytes))
      },
    })
  return (file) => new ListedFile(file, file, open)
}
