import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeFiles, type Files } from '../journal/files.ts'
import { fromNames, toNames } from './kept-names.ts'
import { openTree, type KeptTree } from './kept-tree.ts'

function setup(files: Files = nodeFiles): { readonly folder: string; readonly tree: KeptTree } {
  const made = fs.mkdtempSync(join(os.tmpdir(), 'names-'))
  const folder = made.toLowerCase()
  fs.renameSync(made, folder)
  fs.writeFileSync(join(folder, 'place.json'), '{}')
  return { folder, tree: openTree(files, folder, join(folder, 'files')) }
}

function put(tree: KeptTree, path: string): string {
  const at = tree.make(path)
  fs.writeFileSync(at, path)
  return at
}

/** A disk that takes `A` for `a`, as most Macs' do: names are held in small letters, and listed as they were made. */
function caseBlind(): Files {
  const spelled = new Map<string, string>()
  const low = (path: string): string => path.toLowerCase()
  return {
    ...nodeFiles,
    kind: (path) => nodeFiles.kind(low(path)),
    list: (path) => nodeFiles.list(low(path)).map((name) => spelled.get(join(low(path), name)) ?? name),
    syncFolder: (path) => nodeFiles.syncFolder(low(path)),
    makeFolder(path) {
      nodeFiles.makeFolder(low(path))
      if (!spelled.has(low(path))) spelled.set(low(path), path.slice(path.lastIndexOf('/') + 1))
    },
    openAppend(path, create) {
      if (!spelled.has(low(path))) spelled.set(low(path), path.slice(path.lastIndexOf('/') + 1))
      return nodeFiles.openAppend(low(path), create)
    },
  }
}

describe('names of kept files', () => {
  it('are the names they had, where every system takes them', () => {
    for (const path of ['a', 'projects/-home-me/3f.jsonl', '.meta/Ünï cödé', 'a.1/b.gz', '日本/x']) {
      expect(toNames(path).join('/')).toBe(path)
    }
  })

  it('are changed where some system does not, and lead back', () => {
    expect(toNames('2025:01|x?.jsonl')).toEqual(['2025%3A01%7Cx%3F.jsonl'])
    expect(toNames('CON')).toEqual(['%43ON'])
    expect(toNames('nul.txt/a. ')).toEqual(['%6Eul.txt', 'a.%20'])
    expect(toNames('100%41')).toEqual(['100%2541'])
    expect(toNames('a\\b\n')).toEqual(['a%5Cb%0A'])
  })

  it('of any path lead back to it, none longer than a file system takes', () => {
    const part = fc.oneof(
      fc.string({ minLength: 1, maxLength: 300, unit: 'grapheme' }),
      fc.constantFrom(
        'con',
        'aux.x',
        'a.',
        ' ',
        '%',
        '%41',
        'a%!',
        'b%~',
        '~',
        'x'.repeat(600),
        '%'.repeat(255),
      ),
    )
    const parts = fc.array(
      part.filter((text) => !/[/\0]|\p{Cs}/u.test(text) && text !== '.' && text !== '..'),
      { minLength: 1, maxLength: 4 },
    )
    fc.assert(
      fc.property(parts, (names) => {
        const path = names.join('/')
        const there = toNames(path)
        expect(fromNames(there)).toBe(path)
        for (const name of there) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(202)
      }),
    )
  })

  it('are refused for what is no path below the place', () => {
    for (const path of [
      '',
      '.',
      '..',
      '../x',
      'a/../../x',
      '/etc/passwd',
      'a//b',
      'a/',
      'a\0b',
      '\ud800',
      'a/./b',
    ]) {
      expect(() => toNames(path)).toThrow('not a path below the place')
    }
  })

  it('differ for a file and for the folder that took its place, and back', () => {
    const { folder, tree } = setup()
    put(tree, 'a')
    const below = put(tree, 'a/b')
    put(tree, 'c/d')
    put(tree, 'c')
    expect(below).toBe(join(folder, 'files', 'a%!', 'b'))
    for (const path of ['a', 'a/b', 'c/d', 'c'])
      expect(fs.readFileSync(tree.find(path) ?? '', 'utf8')).toBe(path)
    expect([...tree.walk()].toSorted()).toEqual(['a', 'a/b', 'c', 'c/d'])
  })

  it('differ for paths that a disk takes for the same', () => {
    const files = caseBlind()
    const { tree } = setup(files)
    const paths = ['Ab/x', 'ab/x', 'aB/X', 'AB/x', 'ab/X']
    for (const path of paths) {
      const fd = files.openAppend(tree.make(path), 'any')
      files.write(fd, Buffer.from(path), 0, path.length)
      files.close(fd)
    }
    const found = paths.map((path) => fs.readFileSync((tree.find(path) ?? '').toLowerCase(), 'utf8'))
    expect(found).toEqual(paths)
  })

  it('never lead through a link', () => {
    const { folder, tree } = setup()
    const elsewhere = fs.mkdtempSync(join(os.tmpdir(), 'elsewhere-'))
    fs.writeFileSync(join(elsewhere, 'x'), 'secret')
    fs.mkdirSync(join(folder, 'files'))
    fs.symlinkSync(elsewhere, join(folder, 'files/a'))
    expect(tree.find('a/x')).toBeUndefined()
    put(tree, 'a/x')
    expect(fs.readFileSync(join(elsewhere, 'x'), 'utf8')).toBe('secret')
    expect(fs.readFileSync(tree.find('a/x') ?? '', 'utf8')).toBe('a/x')
    fs.rmSync(join(folder, 'files'), { recursive: true })
    fs.symlinkSync(elsewhere, join(folder, 'files'))
    expect(tree.find('x')).toBeUndefined()
    expect(() => tree.make('x')).toThrow('is not a folder')
  })
})
