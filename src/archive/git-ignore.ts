/** Transcripts hold whatever the agent saw: inside a repository they stay out of commits unless somebody decides otherwise. */
import { dirname, join } from 'node:path'
import { systemCode } from '../errors.ts'
import { writeAll, type Files } from '../journal/files.ts'

/** A `.gitignore` of `*` in the folder, when it lies inside a git repository and has none. The folder must be there. */
export function keepOutOfGit(files: Files, folder: string): void {
  try {
    const fd = files.openAppend(join(folder, '.gitignore'), 'new')
    try {
      writeAll(files, fd, Buffer.from('*\n'))
    } finally {
      files.close(fd)
    }
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
}

export function isInsideRepository(files: Files, folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (files.kind(join(at, '.git')) !== undefined) return true
    if (dirname(at) === at) return false
  }
}
