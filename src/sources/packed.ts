/**
 * Zip and tar files as what they hold: files that are not there to be looked at, given once and in order. What is left out of them,
 * and why, is told.
 */
import fs from 'node:fs'
import { resolve } from 'node:path'
import { readTar, type PassedOver } from '../archive/tar.ts'
import { fromSystemError, HansardError } from '../errors.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { openSource } from './open.ts'
import { PACKAGE_BYTES, packageKind } from './package-kind.ts'

export type Packed = {
  readonly files: (passedOver: (path: string, why: PassedOver) => void) => AsyncIterable<PackedFile>
  /** What is missing from it or cut off, once all is read. */
  readonly damage: () => readonly Damage[]
}

export type PackedFile = {
  readonly path: string
  /** Of what it takes to keep it, as far as that is known beforehand. */
  readonly sizeBytes: number
  readonly chunks: () => AsyncIterable<Buffer>
}

/** Undefined for a folder, and for a file that is no package. */
export async function openPacked(path: string): Promise<Packed | undefined> {
  const root = resolve(path)
  if (isFolder(root)) return undefined
  const source = await openSource(root)
  if (source.kind === 'folder') return { files: () => filesIn(source.list()), damage: () => source.damage() }
  const [file] = await source.list()
  // A zip file inside gzip is nobody's; a tar file inside it is the common case.
  if (file === undefined || packageKind(await file.head(PACKAGE_BYTES)) !== 'tar') return undefined
  return { files: (passedOver) => filesOfTar(file, passedOver), damage: () => source.damage() }
}

function isFolder(path: string): boolean {
  try {
    return fs.statSync(path).isDirectory()
  } catch (error) {
    throw fromSystemError(error, path)
  }
}

async function* filesIn(list: Promise<readonly SourceFile[]>): AsyncGenerator<PackedFile> {
  for (const file of await list)
    yield { path: file.path, sizeBytes: file.sizeBytes, chunks: () => file.chunks() }
}

const TAR_LIMITS = { maxBytes: 1e12, maxFiles: 1_000_000 }

async function* filesOfTar(
  file: SourceFile,
  passedOver: (path: string, why: PassedOver) => void,
): AsyncGenerator<PackedFile> {
  const items = readTar(file.chunks(), { ...TAR_LIMITS, passedOver })
  let next = await items.next()
  while (next.done !== true) {
    if (next.value.type !== 'file') throw new HansardError('not-a-transcript', `${file.path} is no tar file`)
    const { path, sizeBytes } = next.value.entry
    let left = true
    let failed: { readonly error: unknown } | undefined
    const chunks = async function* (): AsyncGenerator<Buffer> {
      let given = 0
      for (;;) {
        try {
          next = await items.next()
        } catch (error) {
          if (given < sizeBytes) throw error
          // What comes behind it is no fault of a file that is whole.
          failed = { error }
          break
        }
        if (next.done === true || next.value.type !== 'bytes') break
        given += next.value.bytes.length
        yield next.value.bytes
      }
      left = false
    }
    yield { path, sizeBytes, chunks }
    // Nobody wanted it: the next file stands behind its bytes.
    if (left) for await (const _ of chunks());
    if (failed !== undefined) throw failed.error
  }
}
