/**
 * Where a git repository lies, and whether git can be asked about it: what is no regular file would make git wait for ever, and a
 * network path would make it ask the network.
 */
import fs from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { HansardError, isHansardError } from '../errors.ts'
import { readSmallFile } from './at-once.ts'
import { isNetworkPath } from './network-path.ts'

export type GitFolder = {
  /** Of this work tree. */
  readonly own: string
  /** What all work trees of the repository share: refs and objects. */
  readonly common: string
}

/** A file that says where the repository is holds one path. */
const MAX_POINTER_BYTES = 4096
const MAX_CONFIG_BYTES = 4 * 1024 * 1024
/** As deep as git follows. */
const MAX_INCLUDES = 10
/** `objects` and `refs` in them are what git opens when objects are read. */
const OPENED = [
  'HEAD',
  'commondir',
  'gitdir',
  'config',
  'config.worktree',
  'packed-refs',
  'shallow',
  'info',
  'objects',
  'refs',
  'reftable',
]
const MAX_DEPTH = 32

/** Undefined where no repository is. A bare one is taken where nothing else is. */
export function findGitFolder(repository: string): GitFolder | undefined {
  const folder = resolve(repository)
  const inside = join(folder, '.git')
  const kind = fs.lstatSync(inside, { throwIfNoEntry: false })
  if (kind?.isDirectory() === true) return toGitFolder(inside)
  const named = kind === undefined ? undefined : /^gitdir: (.+)$/m.exec(pointer(inside) ?? '')?.[1]
  if (named !== undefined)
    return isNetworkPath(named) ? undefined : toGitFolder(resolve(folder, named.trim()))
  const isBare = ['objects', 'HEAD'].every((name) => fs.existsSync(join(folder, name)))
  return isBare ? toGitFolder(folder) : undefined
}

function toGitFolder(own: string): GitFolder | undefined {
  const common = pointer(join(own, 'commondir'))?.trim() ?? '.'
  return isNetworkPath(common) ? undefined : { own, common: resolve(own, common) }
}

function pointer(path: string): string | undefined {
  try {
    return readSmallFile(path, MAX_POINTER_BYTES)
  } catch {
    return undefined
  }
}

/** Throws `unsafe-path` where git would open a pipe or a device, or would leave the machine. */
export function checkGitFolder({ own, common }: GitFolder): void {
  for (const folder of new Set([own, common])) {
    for (const name of OPENED) checkBelow(join(folder, name), 0)
    for (const name of ['config', 'config.worktree']) checkIncludes(join(folder, name), 0)
  }
  for (const name of ['alternates', 'http-alternates']) {
    const lines = readIfThere(join(common, 'objects/info', name)).split('\n')
    for (const line of lines) {
      const path = resolve(common, 'objects', line.trim())
      if (isNetworkPath(line)) throw unsafe(line)
      if (line.trim() !== '' && path !== join(common, 'objects')) checkBelow(path, 0)
    }
  }
}

function checkBelow(path: string, depth: number): void {
  const stat = fs.statSync(path, { throwIfNoEntry: false })
  if (stat === undefined || stat.isFile()) return
  if (!stat.isDirectory() || depth > MAX_DEPTH) throw unsafe(path)
  for (const entry of fs.readdirSync(path, { withFileTypes: true }))
    if (!entry.isFile()) checkBelow(join(path, entry.name), depth + 1)
}

/** Not a parser of git's settings: whatever may be the path of an included file is looked at. */
function checkIncludes(config: string, depth: number): void {
  const text = readIfThere(config)
  if (!/\[\s*include/i.test(text)) return
  if (depth > MAX_INCLUDES) throw unsafe(config)
  for (const [, value = ''] of text.matchAll(/\bpath[^\S\n]*=(.*)/gi)) {
    const path = value
      .replace(/[#;].*/, '')
      .replaceAll('"', '')
      .trim()
    if (/[\\]|".*[#;]/.test(value) || isNetworkPath(path)) throw unsafe(config)
    const included = resolve(dirname(config), path.replace(/^~(?=\/)/, homedir()))
    const stat = fs.statSync(included, { throwIfNoEntry: false })
    if (stat === undefined || stat.isDirectory()) continue
    if (!stat.isFile()) throw unsafe(included)
    checkIncludes(included, depth + 1)
  }
}

function readIfThere(path: string): string {
  try {
    return readSmallFile(path, MAX_CONFIG_BYTES)
  } catch (error) {
    if (isHansardError(error) && error.code === 'not-found') return ''
    throw error
  }
}

function unsafe(path: string): HansardError {
  return new HansardError(
    'unsafe-path',
    `${path} is no regular file: git is not asked about this repository`,
    {
      hint: 'take it out of the repository, or name the folder in exclude',
    },
  )
}
