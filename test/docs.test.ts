/** The docs are part of the product: what they claim is there, what they show runs. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ABOUT } from '../src/formats/about.ts'
import { formats } from '../src/formats/index.ts'
import { formatTable, tableWritten } from './format-table.ts'
import { VERSION } from '../src/version.ts'

const root = resolve(import.meta.dirname, '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

function below(folder: string, suffix: string): string[] {
  return readdirSync(join(root, folder)).flatMap((name) => {
    const path = join(folder, name)
    if (name === 'node_modules' || name === 'dist' || name.startsWith('.')) return []
    if (statSync(join(root, path)).isDirectory()) return below(path, suffix)
    return name.endsWith(suffix) ? [path] : []
  })
}

const pages = below('.', '.md')
const tests = [...below('src', '.test.ts'), ...below('test', '.test.ts')]

describe('the docs', () => {
  it('link only to what is there', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map(([, target]) => target as string)
        .filter((target) => !existsSync(resolve(root, dirname(page), target)))
        .map((target) => `${page} → ${target}`),
    )
    expect(broken).toEqual([])
  })

  it('have a page for every format', () => {
    expect(
      formats.map(({ id }) => `docs/formats/${id}.md`).filter((page) => !existsSync(join(root, page))),
    ).toEqual([])
  })

  it('have a table of all formats, as the code says them: npm run format-table', () => {
    expect(formats.map(({ id }) => id).filter((id) => !ABOUT.has(id))).toEqual([])
    expect(tableWritten(root)).toBe(formatTable())
  })

  it('name the version that package.json has', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({ version: VERSION })
    expect(read('CHANGELOG.md')).toContain(`## ${VERSION}`)
  })

  it('keep host names out of the lockfile', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved":/)
  })
})

/** `a test` in `path`, as the tables of README and docs/seeds.md cite them. */
const CITED = /`([^`|]+\.test\.ts)`(?::? *[“"]([^”"]+)[”"])?/g

describe.each(['README.md', 'docs/seeds.md'])('%s', (page) => {
  it('cites only tests that exist, by the claim they make', () => {
    const missing = [...read(page).matchAll(CITED)]
      .filter(
        ([, path = '', claim]) =>
          !tests.includes(path) || (claim !== undefined && !read(path).includes(claim)),
      )
      .map(([cited]) => cited)
    expect(missing).toEqual([])
    expect([...read(page).matchAll(CITED)].length).toBeGreaterThan(5)
  })
})

describe('the README', () => {
  it('names every format, with a way to its page', () => {
    const readme = read('README.md')
    const pageOf = (id: string): string => (id === 'journal' ? 'docs/format.md' : `docs/formats/${id}.md`)
    expect(formats.map(({ id }) => id).filter((id) => !readme.includes(`](${pageOf(id)})`))).toEqual([])
  })

  it('has an example that runs as it stands', () => {
    const example = /```ts\n([\s\S]*?)```/.exec(read('README.md'))?.[1] as string
    expect(example.trim().split('\n').length).toBeLessThanOrEqual(12)
    const folder = mkdtempSync(join(tmpdir(), 'hansard-readme-'))
    const library = relative(folder, join(root, 'dist/src/index.js'))
    writeFileSync(join(folder, 'example.mjs'), example.replace("'hansard'", JSON.stringify(library)))
    const env = { ...process.env, HANSARD_HOME: join(folder, 'home') }
    const printed = execFileSync(process.execPath, ['example.mjs'], { cwd: folder, env, encoding: 'utf8' })
    expect(printed).toMatch(/completed/)
    expect(existsSync(join(folder, '.entire/metadata'))).toBe(true)
  })
})
