import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/temporary.ts',
    setupFiles: 'test/seed.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is awaited comes when it comes: on a busy machine a page takes its time.
    expect: { poll: { timeout: 10_000 } },
    // Crash tests spawn processes; more workers than cores would only make their timings wobble.
    maxWorkers: 2,
  },
})
