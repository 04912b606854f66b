import fs from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** What weighs the process it runs in, or changes it, has one of its own. Loading everything anew for each of the others took a third of the time. */
const ALONE =
  /held-bytes|memoryUsage|cpuUsage|resourceUsage|chdir\(|umask\(|unprivileged|process\.(?:on|once|emit)|process\.env\[[^\]]+\] = /

const files = ['src', 'test'].flatMap((folder) =>
  fs
    .readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
)
const isAlone = (file: string): boolean =>
  ALONE.test(fs.readFileSync(join(import.meta.dirname, file), 'utf8'))

export default defineConfig({
  test: {
    globalSetup: 'test/temporary.ts',
    setupFiles: 'test/seed.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is awaited comes when it comes: on a busy machine a page takes its time.
    expect: { poll: { timeout: 10_000 } },
    // One more than the cores of the smallest machine: tests of the page wait for a browser half of the time.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'alone', include: files.filter(isAlone) } },
      {
        extends: true,
        test: { name: 'together', include: files.filter((file) => !isAlone(file)), isolate: false },
      },
    ],
  },
})
