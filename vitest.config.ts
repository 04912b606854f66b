import fs from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** What weighs the process it runs in, or changes it, has one of its own. Loading everything anew for each of the others took a third of the time. */
const ALONE =
  /held-bytes|prepareFollowed|memoryUsage|cpuUsage|resourceUsage|chdir\(|umask\(|unprivileged|process\.(?:on|once|emit)|process\.env\[[^\]]+\] = /

const files = ['src', 'test'].flatMap((folder) =>
  fs
    .readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
)
const isAlone = (file: string): boolean =>
  ALONE.test(fs.readFileSync(join(import.meta.dirname, file), 'utf8'))

const isPage = (file: string): boolean => file.startsWith('test/page')

export default defineConfig({
  test: {
    globalSetup: 'test/temporary.ts',
    setupFiles: 'test/seed.ts',
    // A test that hangs ends some time; no test is slow on a machine that has much else to do.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What is awaited comes when it comes: on a busy machine a page takes its time.
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: 'alone', include: files.filter((file) => !isPage(file) && isAlone(file)) },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: files.filter((file) => !isPage(file) && !isAlone(file)),
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'page',
          include: files.filter(isPage),
          isolate: false,
          globalSetup: ['test/temporary.ts', 'test/page-browser.ts'],
          expect: { poll: { timeout: 120_000 } },
          // After the others, so that a browser does not fight with them for the processor.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
