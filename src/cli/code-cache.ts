/**
 * What V8 compiled of the program the last time, used again: half of a short command's time goes into reading its code. Newer versions
 * of Node.js can do that themselves; for the others it is done here, for the files in `chunks`, whose names change with what is in
 * them. Derived and disposable: what cannot be read or written is done without.
 */
import fs from 'node:fs'
import Module from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'

/** The part of a module that is used; the types know nothing of what loaders may do. */
type Loaded = {
  exports: unknown
  require(name: string): unknown
  _compile: (this: Loaded, source: string, file: string) => unknown
}
type Loader = {
  prototype: Loaded
  wrap(source: string): string
  enableCompileCache?: (folder: string) => unknown
}

type Compiled = { readonly script: Script; readonly at: string }
/** How often one build of the program went each way: see `LEARNED`. */
type Runs = { readonly build: string; readonly counts: { readonly [way: string]: number } }

/** Files of other versions of the program go when nobody has asked for them for so long. */
const FORGOTTEN_MS = 30 * 86_400_000
/** The functions that a command calls are added to what is kept the first few times that it is run. */
const RUNS = 'runs.json'
const LEARNED_AFTER = 3
/**
 * Ends the name of a file without a byte: one build has learned one way. A way is a command and how many files it took, since a sync
 * that reads goes another than one that need not. Whether it is there is all that most commands ask.
 */
const LEARNED = '.learned'

/** `chunks`: the folder whose files are meant. As Node.js does, it stays away where `NODE_DISABLE_COMPILE_CACHE` is set. */
export function useCodeCache(chunks: string, command: string, env: NodeJS.ProcessEnv = process.env): void {
  const name = /^[a-z-]{1,20}$/.test(command) ? command : 'other'
  const loaded: Compiled[] = []
  let isNew = false
  const folder = takeKept(chunks, env, (one, isKept) => {
    isNew ||= !isKept
    loaded.push(one)
  })
  if (folder === undefined) return
  process.once('exit', () => {
    const [first] = loaded
    if (first === undefined) return
    // The first file tells one build of the program from others.
    const build = basename(first.at)
    const way = `${name}-${loaded.length}`
    const learned = join(folder, `${build}.${way}${LEARNED}`)
    if (!isNew && fs.existsSync(learned)) return
    const { counts } = readRuns(join(folder, RUNS), build)
    const times = (counts[way] ?? 0) + 1
    const runs = { build, counts: { ...counts, [way]: times } }
    keep(folder, loaded, runs, times >= LEARNED_AFTER ? learned : undefined)
  })
}

/** For a thread, whose files the program itself has loaded before: what is kept is used, and nothing more is kept. */
export function readCodeCache(chunks: string, env: NodeJS.ProcessEnv = process.env): void {
  takeKept(chunks, env, () => {})
}

/** From here on, files are compiled from what is kept of them. Undefined where Node.js does that itself, or nobody is to. */
function takeKept(
  chunks: string,
  env: NodeJS.ProcessEnv,
  onLoaded: (one: Compiled, isKept: boolean) => void,
): string | undefined {
  const base = cacheFolder(env)
  if (base === undefined || env['NODE_DISABLE_COMPILE_CACHE'] !== undefined) return undefined
  const folder = join(base, 'hansard', `code-${process.version}-${process.arch}`)
  const loader = Module as unknown as Loader
  if (loader.enableCompileCache !== undefined) {
    loader.enableCompileCache(folder)
    return undefined
  }
  const compile = loader.prototype._compile
  loader.prototype._compile = function (this: Loaded, source, file) {
    if (dirname(file) !== chunks) return compile.call(this, source, file)
    const at = join(folder, basename(file))
    const cachedData = readIfThere(at)
    const script = new Script(loader.wrap(source), { filename: file, ...(cachedData && { cachedData }) })
    onLoaded({ script, at }, cachedData !== undefined && script.cachedDataRejected !== true)
    const run = script.runInThisContext() as (...given: unknown[]) => unknown
    // A chunk asks for nothing of `require` but modules.
    const require = (name: string): unknown => this.require(name)
    return run.call(this.exports, this.exports, require, this, file, chunks)
  }
  return folder
}

function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  if (env['XDG_CACHE_HOME']) return env['XDG_CACHE_HOME']
  if (process.platform === 'win32') return env['LOCALAPPDATA']
  const home = env['HOME']
  if (home === undefined || home === '') return undefined
  return process.platform === 'darwin' ? join(home, 'Library', 'Caches') : join(home, '.cache')
}

/** What another build noted says nothing of this one. */
function readRuns(path: string, build: string): Runs {
  const none = { build, counts: {} }
  try {
    const said = JSON.parse(readIfThere(path)?.toString() ?? '{}') as Partial<Runs>
    return said.build === build && said.counts ? { build, counts: said.counts } : none
  } catch {
    return none
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return fs.readFileSync(path)
  } catch {
    return undefined
  }
}

/** At the end, when it is known which functions are called. Whole or not at all: another process may read it meanwhile. */
function keep(folder: string, loaded: readonly Compiled[], runs: Runs, learned: string | undefined): void {
  const write = (at: string, bytes: Buffer): void => {
    const temporary = `${at}.${process.pid}`
    fs.writeFileSync(temporary, bytes, { mode: 0o600 })
    fs.renameSync(temporary, at)
  }
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const { script, at } of loaded) write(at, script.createCachedData())
    write(join(folder, RUNS), Buffer.from(JSON.stringify(runs)))
    if (learned !== undefined) write(learned, Buffer.alloc(0))
    for (const name of fs.readdirSync(folder)) {
      const path = join(folder, name)
      if (Date.now() - fs.statSync(path).mtimeMs > FORGOTTEN_MS) fs.rmSync(path)
    }
  } catch {
    // The next command reads its code as this one did.
  }
}
