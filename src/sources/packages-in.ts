/** The tar and zip files in a folder, told by their first bytes: what they are called says nothing. */
import { useAtOnce, readAt } from './at-once.ts'
import type { Exclusion } from './exclude.ts'
import { isGzip } from './gzip.ts'
import { openSource } from './open.ts'
import { PACKAGE_BYTES, packageKind } from './package-kind.ts'
import { walk } from './walk.ts'
import { isZstd } from './zstd.ts'

/** `path`: below the folder. */
export type FoundPackage = { readonly path: string; readonly absolute: string }

export async function packagesIn(folder: string, exclude: Exclusion): Promise<readonly FoundPackage[]> {
  const found: FoundPackage[] = []
  for (const { path, absolute, size } of walk(folder, { files: ['**'], exclude }))
    if (size > 0 && (await isPackage(absolute))) found.push({ path, absolute })
  return found
}

/** As a package that is named would be taken for one: a zip file inside gzip is nobody's. */
async function isPackage(path: string): Promise<boolean> {
  try {
    const head = useAtOnce(path, { follow: false }, (fd) => readAt(fd, 0, PACKAGE_BYTES))
    if (!isGzip(head) && !isZstd(head)) return packageKind(head) !== undefined
    const [file] = await (await openSource(path)).list()
    return file !== undefined && packageKind(await file.head(PACKAGE_BYTES)) === 'tar'
  } catch {
    // Whoever takes in the folder says why it cannot be read.
    return false
  }
}
