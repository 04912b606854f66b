/** Real repositories for tests, made by one process whatever they hold. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type TestCommit = {
  /** A full name: `refs/heads/main`. Several commits of one ref follow each other, each with the files of those before. */
  readonly ref: string
  /** Seconds since 1970. */
  readonly at?: number
  readonly files: Readonly<Record<string, string | Buffer>>
}

export function createRepository(
  commits: readonly TestCommit[],
  folder = mkdtempSync(join(tmpdir(), 'hansard-git-')),
): string {
  execFileSync('git', ['init', '-q', '-b', 'main', folder])
  addCommits(folder, commits)
  return folder
}

export function addCommits(repository: string, commits: readonly TestCommit[]): void {
  const tips = new Set<string>()
  const parts: Buffer[] = []
  const data = (content: string | Buffer): void => {
    const bytes = Buffer.from(content)
    parts.push(Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n'))
  }
  for (const { ref, at = 1_770_000_000, files } of commits) {
    parts.push(Buffer.from(`commit ${ref}\ncommitter a <a@b.c> ${at} +0000\n`))
    data('made for a test')
    if (!tips.has(ref) && isThere(repository, ref)) parts.push(Buffer.from(`from ${ref}^0\n`))
    tips.add(ref)
    for (const [path, content] of Object.entries(files)) {
      parts.push(Buffer.from(`M 100644 inline ${path}\n`))
      data(content)
    }
    parts.push(Buffer.from('\n'))
  }
  execFileSync('git', ['-C', repository, 'fast-import', '--quiet'], { input: Buffer.concat(parts) })
}

function isThere(repository: string, ref: string): boolean {
  return execFileSync('git', ['-C', repository, 'for-each-ref', ref], { encoding: 'utf8' }) !== ''
}
