/**
 * A path and the format of what is there: a file, a folder, or a git repository that holds transcripts in its objects, which is
 * looked for where the folder itself is of no format.
 */
import { basename, resolve } from 'node:path'
import { isHansardError } from '../errors.ts'
import { detect, type Detected, type DetectOptions, getFormat, identify } from './detect.ts'
import { openEntireRepository } from './entire-git.ts'
import { refuseMixed } from './mixed.ts'
import { openSource, type OpenSource } from './open.ts'
import { withoutPackages } from './without-packages.ts'

export type OpenDetected = {
  readonly detected: Detected
  /** To be read anew, from the start. */
  readonly open: () => Promise<OpenSource>
}

/** Throws as `openSource`, `identify` and `refuseMixed` do. */
export async function openDetected(path: string, options: DetectOptions): Promise<OpenDetected> {
  if (basename(resolve(path)) === '.git') {
    const repository = await openRepository(path, options)
    if (repository !== undefined) return repository
  }
  const source = await openSource(path)
  const detected = await detectFolder(source, options)
  const isOther = source.kind === 'folder' && (!detected.found || !(await isSeen(source, options)))
  const repository = isOther ? await openRepository(path, options) : undefined
  if (repository !== undefined) return repository
  const answer = detected.found ?? (await identify(source, options))
  if (source.isPacked === true && options.format === undefined)
    await refuseMixed(source, answer.format, options.formats)
  const open = async (): Promise<OpenSource> => {
    const opened = await openSource(path)
    return opened.kind === 'folder' ? withoutPackages(opened) : opened
  }
  return { detected: answer, open }
}

async function openRepository(path: string, options: DetectOptions): Promise<OpenDetected | undefined> {
  const source = await openEntireRepository(path)
  const detected = source === undefined ? undefined : await detect(source, options)
  return source && detected && { detected, open: async () => source }
}

/** A work tree of more files than a folder of transcripts has may still be a repository. */
async function detectFolder(
  source: OpenSource,
  options: DetectOptions,
): Promise<{ readonly found: Detected | undefined }> {
  try {
    return { found: await detect(source, options) }
  } catch (error) {
    if (source.kind === 'folder' && isHansardError(error) && error.code === 'too-large')
      return { found: undefined }
    throw error
  }
}

/** Of a format that the user named: whether it finds anything in the folder's own files. */
async function isSeen(source: OpenSource, { formats, format }: DetectOptions): Promise<boolean> {
  if (format === undefined) return true
  return (await getFormat(format, formats).detect(source)) !== undefined
}
