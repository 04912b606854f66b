import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: 'test/temporary.ts',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Crash tests spawn processes; more workers than cores would only make their timings wobble.
    maxWorkers: 2,
  },
})
