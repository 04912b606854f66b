/**
 * Cline, Roo Code and Kilo Code, read: the files of a task together or each alone, and the sessions of Cline's CLI. Told by content; in
 * a task's folder the files are known by the names that the family gives them.
 */
import { isUuid, uuidFrom } from '../transcript/ids.ts'
import type { Session } from '../transcript/session.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { detectAmong } from './candidates.ts'
import { lookAtCline, type Kind } from './cline-look.ts'
import { NAMES } from './cline-places.ts'
import { readManifest, readMessages, sessionIdOf, type Manifest } from './cline-session.ts'
import { ID, readTask, type TaskFiles } from './cline-task.ts'
import { VOCABULARY } from './cline-vocabulary.ts'
import { readDocument } from './document.ts'
import { createDriftWatch, type DriftWatch } from './drift.ts'
import type { Format, ReadItem } from './format.ts'
import { readFurther } from './further-head.ts'
import { readHead } from './head-records.ts'
import { PLACES } from './places.ts'

export const cline: Format = {
  id: ID,
  title: "Cline, Roo Code, Kilo Code: tasks/<id>/*.json; Cline CLI's sessions",
  detect: (source) => detectAmong(source, async (file) => lookAtCline(await readHead(file)), isJson),
  async *read(source, options) {
    const shared: Shared = { taken: new Set(), watch: createDriftWatch(VOCABULARY, options) }
    for (const [folder, files] of await foldersOf(source)) yield* readFolder(folder, files, source, shared)
  },
  places: PLACES.cline,
  unit: ({ path }) => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '.'),
}

type Shared = { readonly taken: Set<string>; readonly watch: DriftWatch | undefined }
type Known = { readonly kind: Kind; readonly file: SourceFile }

const isJson = ({ path }: SourceFile): boolean => path.endsWith('.json')

/** The family's files by the folder that they lie in, in the order of their paths. */
async function foldersOf(source: Source): Promise<ReadonlyMap<string, readonly Known[]>> {
  const folders = new Map<string, Known[]>()
  const files = await source.list()
  const paths = new Set(files.map(({ path }) => path))
  for (const file of files) {
    // What lies beside a session's messages under its name is about them.
    const isBeside = paths.has(file.path.replace(/\.json$/, '.messages.json')) && isJson(file)
    const kind = isBeside && !file.path.endsWith('.messages.json') ? 'session' : await kindOf(file, source)
    if (kind === undefined) continue
    const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1)
    const known = folders.get(folder)
    if (known === undefined) folders.set(folder, [{ kind, file }])
    else known.push({ kind, file })
  }
  return folders
}

async function kindOf(file: SourceFile, source: Source): Promise<Kind | undefined> {
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  const isAlone = source.kind === 'file'
  if (!isAlone && (!isJson(file) || file.sizeBytes === 0)) return undefined
  // What it holds comes first; its name tells of a file that is empty or damaged.
  const looks = lookAtCline(await readFurther(file))?.kind ?? NAMES.get(name)
  // Somebody says that it is Cline's: a list is what was sent until it shows something else.
  return looks ?? (isAlone ? await guess(file) : undefined)
}

async function guess(file: SourceFile): Promise<Kind> {
  const { text } = await readFurther(file)
  return /^\uFEFF?\s*\{/.test(text) ? 'messages' : 'history'
}

async function* readFolder(
  folder: string,
  files: readonly Known[],
  source: Source,
  shared: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const ofKind = (...kinds: readonly Kind[]): readonly SourceFile[] =>
    files.filter(({ kind }) => kinds.includes(kind)).map(({ file }) => file)
  const histories = ofKind('history')
  const shown = ofKind('ui')
  const sidecars = ofKind('task', 'item')
  // A folder is one task; where it holds more than one's files, each stands alone.
  const isOne = histories.length <= 1 && shown.length <= 1
  const tasks: readonly TaskFiles[] = isOne
    ? [{ ...one('history', histories[0]), ...one('ui', shown[0]), sidecars }]
    : [
        ...histories.map((file) => ({ history: file, sidecars: [] })),
        ...shown.map((file) => ({ ui: file, sidecars: [] })),
        ...sidecars.map((file) => ({ sidecars: [file] })),
      ]
  for (const task of tasks) {
    const [first] = [task.history, task.ui, ...task.sidecars].filter((file) => file !== undefined)
    if (first !== undefined) {
      const name = isOne ? taskName(source, folder) : undefined
      yield* readOne(task, first, { folder: name, agent: agentOf(`${source.path}/${folder}`), ...shared })
    }
  }
  yield* readSessions(ofKind('messages'), ofKind('session'), shared)
}

const one = (key: 'history' | 'ui', file: SourceFile | undefined): Partial<TaskFiles> =>
  file === undefined ? {} : { [key]: file }

function readOne(
  files: TaskFiles,
  first: SourceFile,
  { folder, agent, taken, watch }: Shared & { readonly folder: string | undefined; readonly agent: string },
): AsyncGenerator<readonly ReadItem[]> {
  return readTask(files, {
    folder,
    watch,
    open: ({ began, task = folder ?? began, parentTask, ...facts }) => {
      const session: Session = {
        ...nameOf(task, first.path, taken),
        agent,
        ...facts,
        ...(parentTask !== undefined && {
          parent: { session: uuidFrom(ID, parentTask), relation: 'subagent' },
        }),
      }
      return { type: 'session', session }
    },
  })
}

async function* readSessions(
  messages: readonly SourceFile[],
  documents: readonly SourceFile[],
  { taken, watch }: Shared,
): AsyncGenerator<readonly ReadItem[]> {
  const manifests = new Map<string, Manifest>()
  for (const file of documents) {
    const document = await readDocument(file)
    manifests.set(sessionIdOf(document.raw) ?? file.path, { path: file.path, document })
  }
  let path = ''
  const open = (facts: Omit<Session, 'id' | 'native'>, sessionId: string | undefined): ReadItem => ({
    type: 'session',
    session: { ...nameOf(sessionId, path, taken), ...facts },
  })
  const manifestOf = (sessionId: string | undefined): Manifest | undefined => {
    const manifest = manifests.get(sessionId ?? '')
    manifests.delete(sessionId ?? '')
    return manifest
  }
  for (const file of messages) {
    path = file.path
    yield* readMessages(file, { watch, manifestOf, open })
  }
  for (const manifest of manifests.values()) {
    path = manifest.path
    yield* readManifest(manifest, { open })
  }
}

/** Another file of the same session is another recording of it: its own id, the same native name. */
function nameOf(
  sessionId: string | undefined,
  path: string,
  taken: Set<string>,
): Pick<Session, 'id' | 'native'> {
  const usual = uuidFrom(ID, sessionId ?? path)
  const id = taken.has(usual) ? uuidFrom(ID, sessionId ?? '', path) : usual
  taken.add(id)
  return { id, ...(sessionId !== undefined && { native: { agent: ID, sessionId } }) }
}

/** Only the extension's folder tells the family's members apart. */
function agentOf(path: string): string {
  if (path.includes('roo-cline')) return 'roo-code'
  return path.includes('kilo-code') ? 'kilo-code' : ID
}

/** A task's folder is called by the millisecond that it began in, Roo's by a UUID; any other name says nothing. */
function taskName(source: Source, folder: string): string | undefined {
  const path = source.path.replaceAll('\\', '/')
  const folders = (
    source.kind === 'file' ? path.slice(0, path.lastIndexOf('/') + 1) : `${path}/${folder}`
  ).split('/')
  const name = folders.findLast((one) => one !== '')
  return name !== undefined && (/^\d{12,14}$/.test(name) || isUuid(name)) ? name : undefined
}
