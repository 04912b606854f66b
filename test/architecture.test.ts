/** Holds the shape of the code: imports only go down the list of layers, and the library stays light. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

/** From the top; folders on one row do not import each other. `errors.ts` is everybody's. */
const LAYERS: readonly (readonly string[])[] = [
  ['cli', 'web'],
  ['server'],
  ['capture', 'playback'],
  ['search'],
  ['sources'],
  ['archive'],
  ['journal', 'sqlite'],
  ['formats', 'cost', 'replay', 'redact'],
  ['wire'],
  ['transcript'],
]
/** Files of the root: what went wrong, and which version this is. */
const EVERYBODYS = new Set(['errors.ts', 'version.ts'])
const PURE = new Set(['formats', 'cost', 'replay', 'redact', 'wire', 'transcript'])
const PLATFORM_FOR_PURE = new Set(['node:crypto', 'node:zlib', 'node:buffer', 'node:util'])

const src = resolve(import.meta.dirname, '../src')
const files = walk(src).filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))

function walk(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? walk(path) : [path]
  })
}

function importsOf(path: string): { from: string; isType: boolean; isLazy: boolean }[] {
  const text = readFileSync(path, 'utf8')
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)
  return [...found].map(([, type, fixed, lazy]) => ({
    from: (fixed ?? lazy) as string,
    isType: type !== undefined,
    isLazy: lazy !== undefined,
  }))
}

const layerOf = (path: string): string => relative(src, path).split('/')[0] as string
const rowOf = (layer: string): number => LAYERS.findIndex((row) => row.includes(layer))

describe('the layers', () => {
  it('hold every folder of src', () => {
    const folders = readdirSync(src).filter((name) => statSync(join(src, name)).isDirectory())
    expect(folders.filter((folder) => rowOf(folder) === -1)).toEqual([])
  })

  it('only import downwards', () => {
    const wrong: string[] = []
    for (const path of files) {
      const layer = layerOf(path)
      if (rowOf(layer) === -1) continue
      for (const { from } of importsOf(path)) {
        if (!from.startsWith('.')) continue
        const target = layerOf(resolve(dirname(path), from))
        if (target === layer || EVERYBODYS.has(target)) continue
        if (rowOf(target) <= rowOf(layer)) wrong.push(`${relative(src, path)} → ${from}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('are pure below the journal: values in, values out', () => {
    const impure = files
      .filter((path) => PURE.has(layerOf(path)))
      .flatMap((path) => importsOf(path).map(({ from }) => `${relative(src, path)} → ${from}`))
      .filter((line) => {
        const from = line.split(' → ')[1] as string
        return !from.startsWith('.') && !PLATFORM_FOR_PURE.has(from)
      })
    expect(impure).toEqual([])
  })

  it('keep zod at the doors: the command line and the server', () => {
    const doors = new Set(['cli', 'server'])
    expect(
      files.filter((path) => !doors.has(layerOf(path)) && importsOf(path).some(({ from }) => from === 'zod')),
    ).toEqual([])
  })

  it('load the server, hono and zod only when they are asked for', () => {
    const eager = files
      .filter((path) => layerOf(path) === 'cli')
      .flatMap((path) => importsOf(path).filter(({ isType, isLazy }) => !isType && !isLazy))
      .filter(({ from }) => from === 'zod' || from === 'hono' || from.includes('/server/'))
    expect(eager).toEqual([])
  })
})

describe('the code', () => {
  it('has no barrels but the two that are allowed, no default exports, no any', () => {
    const wrong = files.filter((path) => {
      const text = readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'|`[^`]*`/g, '')
      const barrel =
        path.endsWith('/index.ts') && !['index.ts', 'formats/index.ts'].includes(relative(src, path))
      return (
        barrel ||
        /^export default/m.test(text) ||
        /:\s*any\b|\bas any\b|@ts-(ignore|nocheck|expect-error)/.test(text)
      )
    })
    expect(wrong).toEqual([])
  })

  it('opens every module with its promise', () => {
    const silent = files.filter((path) => {
      const text = readFileSync(path, 'utf8')
      // A file of one short type may speak through the comment on it; anything longer says what it is for.
      return text.split('\n').length > 40 && !text.includes('/**') && !text.startsWith('//')
    })
    expect(silent.map((path) => relative(src, path))).toEqual([])
  })
})

describe('the library', () => {
  it('loads neither SQLite nor the server nor zod nor the command line', () => {
    const seen = new Set<string>()
    const outside = new Set<string>()
    const visit = (path: string): void => {
      if (seen.has(path)) return
      seen.add(path)
      for (const { from, isType, isLazy } of importsOf(path)) {
        // What is imported where it is needed is not loaded with the library.
        if (isType || isLazy) continue
        if (from.startsWith('.')) visit(resolve(dirname(path), from))
        else outside.add(from)
      }
    }
    visit(join(src, 'index.ts'))
    expect([...outside].filter((name) => !name.startsWith('node:'))).toEqual([])
    expect(
      [...seen].map(layerOf).filter((layer) => ['cli', 'server', 'sqlite', 'search'].includes(layer)),
    ).toEqual([])
  })
})
