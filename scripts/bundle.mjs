// A few files instead of a hundred modules: what makes `hansard --help` start in little more than Node.js itself.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { root } from './prepare.mjs'

// Workers are files of their own: threads are started by a file's name.
const input = {
  hansard: `${root}/dist/src/cli/launch.js`,
  'index-worker': `${root}/dist/src/search/index-worker.js`,
  'outline-worker': `${root}/dist/src/search/outline-worker.js`,
  'recorder-worker': `${root}/dist/src/capture/proxy/recorder-worker.js`,
  'apart-worker': `${root}/dist/src/server/apart-worker.js`,
  'behind-worker': `${root}/dist/src/server/behind-worker.js`,
  // What a quick search asks for when an entry cannot be read by itself.
  'resolve-whole': `${root}/dist/src/search/resolve-whole.js`,
}

/** A module and all that it needs before its first line runs. What it imports later, when asked to, is not among it. */
function closureOf(...paths) {
  const all = new Set(paths.map((path) => normalize(`${root}/dist/src/${path}`)))
  for (const path of all) {
    const text = readFileSync(path, 'utf8')
    for (const [, name] of text.matchAll(/^(?:import|export)\b[^'"]*from ['"](\.[^'"]+)['"]/gm))
      all.add(join(dirname(path), name))
  }
  // The program itself stays what its name says, and whatever it needs is in files that do not need it.
  return (id) => all.has(normalize(id)) && !Object.values(input).includes(id)
}

// Finding, opening and linking a file takes longer than having a hundred lines more in it. What commands need at their start is in
// few files, each with what those before it have not: help, any question to the archive, what several commands share, a sync of
// nothing new, costs, searches, reading logs of one format, of any.
const asked = closureOf('cli/commands/cost.js')
const listed = closureOf('cli/commands/list.js')
const searched = closureOf('cli/commands/search.js')
const synced = closureOf('cli/commands/sync.js')
const claudeCode = closureOf('formats/claude-code.js')
const codex = closureOf('formats/codex.js')
const read = closureOf('sources/sync-take.js', 'sources/readers.js', 'sources/unit-worker.js')
const groups = [
  ['start', closureOf('cli/main.js')],
  ['archive', (id) => asked(id) && listed(id) && searched(id)],
  ['state', (id) => asked(id) && searched(id)],
  ['kept', (id) => synced(id) && searched(id)],
  ['entries', (id) => read(id) && searched(id)],
  ['lines', (id) => claudeCode(id) && (codex(id) || read(id) || searched(id))],
  ['sync', synced],
  ['models', (id) => asked(id) && read(id)],
  ['cost', asked],
  ['read', read],
  ['search', searched],
  ['claude-code', claudeCode],
  ['codex', codex],
  ['formats', closureOf('sources/tell-format.js')],
]

/** Modules of Node.js that are loaded with it, or within a tenth of a millisecond. */
const AT_HAND = new Set([
  'buffer',
  'events',
  'fs',
  'module',
  'path',
  'process',
  'timers',
  'url',
  'util',
  'vm',
])

/**
 * Modules of Node.js are loaded when something of them is first used, not when a file that may use them is: what runs programs takes
 * a third of the start of Node.js itself, and is used by one command.
 */
const lazyModules = {
  name: 'lazy-modules',
  renderChunk(code) {
    const named =
      /\b(?:let|const) (\w+) = require\("node:([\w/]+)"\);\n(?:\1 = [\w$]+(?:\.[\w$]+)?\(\1, 1\);\n)?/g
    const lazy = code.replaceAll(named, (whole, name, module) => {
      // What is imported as a whole is wrapped, not copied name by name.
      if (AT_HAND.has(module))
        return `const ${name}$ = require("node:${module}"), ${name} = { __proto__: ${name}$, default: ${name}$ };\n`
      const used = new Set(
        Array.from(code.matchAll(new RegExp(`\\b${name}\\.(\\w+)`, 'g')), ([, property]) => property),
      )
      const all = code.match(new RegExp(`\\b${name}\\b`, 'g')).length
      const within = whole.match(new RegExp(`\\b${name}\\b`, 'g')).length
      const properties = code.match(new RegExp(`\\b${name}\\.\\w`, 'g'))?.length ?? 0
      // Handed on as a whole somewhere.
      if (properties + within !== all) return whole
      const load = `(${name}$ ??= require("node:${module}"))`
      const getter = (property) =>
        `get ${property}() { return ${property === 'default' ? load : `${load}.${property}`} }`
      return `let ${name}$;\nconst ${name} = { ${[...used].map(getter).join(', ')} };\n`
    })
    const [, again] =
      /^const \w+\$ = .*, (\w+) = \{.*;\n\1 = /m.exec(lazy) ??
      /^const (\w+) = \{ get .*;\n\1 = /m.exec(lazy) ??
      []
    if (again !== undefined)
      throw new Error(
        `${again} is set again, and cannot be: the bundler wraps modules in another way than is known here`,
      )
    return lazy
  },
}

/**
 * What one file gives to others is a property of its own where it never changes: behind a function that fetches it, V8 takes a name for
 * something else each time, looks it up, and compiles nothing of what is called into its caller.
 */
const plainExports = {
  name: 'plain-exports',
  renderChunk(code) {
    const given =
      /Object\.defineProperty\(exports, ("[^"]+"), \{\s*enumerable: true,\s*get: function ?\(\) \{\s*return ([\w$]+);\s*\}\s*\}\);/g
    const fixed = new Set(
      Array.from(code.matchAll(/^(?:(?:async )?function\*?|const|class) ([\w$]+)/gm), ([, name]) => name),
    )
    return code.replaceAll(given, (whole, as, name) =>
      fixed.has(name) ? `exports[${as}] = ${name};` : whole,
    )
  },
}

/** What a file with such a name puts together, bytes that are always the same, is put together once: it gives functions that give them. */
const MADE = /-made\.js$/
const madeHere = {
  name: 'made-here',
  async load(id) {
    if (!MADE.test(id)) return null
    const given = Object.entries(await import(pathToFileURL(id).href))
    const bytesOf = (make) => Buffer.from(make()).toString('base64')
    return given
      .map(([name, make]) => `export const ${name} = () => Buffer.from('${bytesOf(make)}', 'base64')`)
      .join('\n')
  },
}

/** The first file asks for one other, which has names of its own to give: nothing need be put around it, nor loaded to do so. */
const bareStart = {
  name: 'bare-start',
  renderChunk(code, { name }) {
    if (name !== 'hansard') return null
    const runtime = 'require_rolldown_runtime'
    const bare = code.replace(
      new RegExp(`(?:/\\* @__PURE__ \\*/ )?${runtime}\\.[\\w$]+\\((require\\("[^"]+"\\)), 1\\)`),
      '$1',
    )
    const without = bare.replace(new RegExp(`const ${runtime} = require\\([^)]*\\);\\n`), '')
    if (without.includes(runtime)) throw new Error('the first file needs more than it should')
    return { code: without }
  },
}

/**
 * zod: only commands that read configuration or standard input load it. libsql: it is loaded only for a database, by a Node without SQLite,
 * and finds its binary beside itself.
 */
const OUTSIDE = ['zod', 'libsql']

const SHARED = {
  // Spaces and comments take as long to read as code; names stay, for whoever reads a stack.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  // `require` finds and links a file in a fraction of the time that `import` takes.
  format: 'cjs',
  dir: `${root}/dist/bin`,
  chunkFileNames: 'chunks/[name]-[hash].js',
  sourcemap: false,
}

/** What a part by itself has at once of what the program imports when it needs it, and what it asks the program's files for. */
const AT_ONCE = /\/(?:node|libsql)-engine\.js$/
const OF_THE_PROGRAM = /\/(resolve-whole\.js)$/
const LATER = `${root}/dist/src/cli/later.js`

/** In a part of the program that is a file by itself: no other file is imported, now or later. */
const byItself = {
  name: 'by-itself',
  transform(code, id) {
    let head = ''
    const own = code.replaceAll(/\bimport\((['"])([^'"]+)\1\)/g, (_, quote, name) => {
      const [, shared] = OF_THE_PROGRAM.exec(name) ?? []
      if (shared !== undefined) return `Promise.resolve().then(() => module.require("../${shared}"))`
      if (!AT_ONCE.test(name)) {
        head ||= `import { later as later$ } from ${JSON.stringify(LATER)};\n`
        return 'later$()'
      }
      const given = `at$${name.replace(/\W/g, '_')}`
      head += `import * as ${given} from ${JSON.stringify(join(dirname(id), name))};\n`
      return `Promise.resolve(${given})`
    })
    return own === code ? null : { code: head + own }
  },
}

// The commonest search, which people and agents wait for: all that it needs and nothing else. Its modules are in the other files too.
const quickSearch = `${root}/dist/src/cli/quick-search.js`
const quick = await rolldown({
  input: { 'quick-search': quickSearch },
  plugins: [byItself, lazyModules],
  platform: 'node',
  external: ['libsql'],
  logLevel: 'warn',
})
const { output: quickFiles } = await quick.write({
  ...SHARED,
  // Nobody sees a stack of it: what goes wrong, the program does again.
  minify: true,
  entryFileNames: 'chunks/[name]-[hash].js',
})
await quick.close()
const [quickFile] = quickFiles
if (quickFiles.length !== 1)
  throw new Error(
    `a part by itself is several files: ${quickFiles.map(({ fileName }) => fileName).join(', ')}`,
  )

// What threads load first, each by itself.
const threadCode = await rolldown({
  input: { 'thread-code': `${root}/dist/src/cli/thread-code.js` },
  plugins: [lazyModules],
  platform: 'node',
  logLevel: 'warn',
})
await threadCode.write({ ...SHARED, entryFileNames: '[name].js' })
await threadCode.close()
/** Threads that others wait for. */
const HASTY = new Set(['cost-worker'])

const bundle = await rolldown({
  input,
  plugins: [
    {
      name: 'quick',
      resolveId: (name) =>
        name.endsWith('/quick-search.js') ? { id: `./${quickFile.fileName}`, external: true } : null,
    },
    madeHere,
    lazyModules,
    plainExports,
    bareStart,
  ],
  platform: 'node',
  external: OUTSIDE,
  logLevel: 'warn',
})
await bundle.write({
  ...SHARED,
  // Also of packages that stay outside: code that V8 kept cannot import.
  dynamicImportInCjs: false,
  entryFileNames: '[name].js',
  codeSplitting: {
    groups: groups.map(([name, test], at) => ({ name, test, priority: groups.length - at })),
  },
  banner: ({ name }) =>
    name === 'hansard' ? '#!/usr/bin/env node' : HASTY.has(name) ? 'require("./thread-code.js");' : '',
})
await bundle.close()

// The threads that a first sync waits for have files of their own: with all that reading a log takes in one of them, V8 compiles into
// one another what is called for each line. Formats are there twice for it.
const reading = await rolldown({
  input: { 'unit-worker': `${root}/dist/src/sources/unit-worker.js` },
  plugins: [madeHere, lazyModules, plainExports],
  platform: 'node',
  external: OUTSIDE,
  // It would warn that a format which is loaded when needed is here at once, which is meant.
  logLevel: 'silent',
})
await reading.write({
  ...SHARED,
  dynamicImportInCjs: false,
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/unit-[name]-[hash].js',
  codeSplitting: {
    groups: [{ name: 'read', test: closureOf('sources/unit-worker.js', 'formats/claude-code.js') }],
  },
})
await reading.close()

/** A file with one character beyond Latin takes two bytes in memory for each of all its characters: such characters are spelled out. */
function spellOut(path) {
  const code = readFileSync(path, 'utf8')
  if (/\\[^\0-\x7f]/.test(code)) throw new Error(`${path}: a character that is escaped cannot be spelled out`)
  const spelled = code.replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  if (spelled !== code) writeFileSync(path, spelled)
}
for (const folder of [`${root}/dist/bin`, `${root}/dist/bin/chunks`])
  for (const name of readdirSync(folder)) if (name.endsWith('.js')) spellOut(join(folder, name))

writeFileSync(`${root}/dist/bin/package.json`, '{ "type": "commonjs" }\n')
chmodSync(`${root}/dist/bin/hansard.js`, 0o755)
