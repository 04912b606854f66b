import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const pack = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly types?: string; readonly default?: string } | string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>
}

describe('the package’s doors', () => {
  it('lead to files that are there, with their types', () => {
    const doors = Object.entries(pack.exports).filter(([name]) => name !== './package.json')
    expect(doors.length).toBeGreaterThan(8)
    for (const [name, door] of doors) {
      const { types = '', default: main = '' } = typeof door === 'string' ? {} : door
      const source = main.replace('./dist/', '').replace(/\.js$/, '.ts')
      expect(existsSync(join(root, source)), name).toBe(true)
      expect(types.replace(/\.d\.ts$/, '.ts')).toBe(`./dist/${source}`)
    }
  })

  it('need none of the packages that they wrap', () => {
    expect(
      Object.keys(pack.peerDependencies).filter((name) => pack.peerDependenciesMeta[name]?.optional !== true),
    ).toEqual([])
    const imported = readdirSync(import.meta.dirname)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .flatMap((name) => [
        ...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(
          /^(?:import|export)[^'"]*?from '([^']+)'|import\('([^']+)'\)/gm,
        ),
      ])
      .map(([, fixed, lazy]) => fixed ?? lazy ?? '')
    expect(imported.length).toBeGreaterThan(50)
    expect(imported.filter((from) => !from.startsWith('.') && !from.startsWith('node:'))).toEqual([])
  })
})
