/** Before the tests of the page: one browser for all of them. Each file connects to it and has contexts of its own. */
import { chromium } from 'playwright-core'
import type { TestProject } from 'vitest/node'
import { findBrowser } from '../scripts/browser.mjs'

declare module 'vitest' {
  // eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- merged into vitest's own
  interface ProvidedContext {
    /** Where the browser listens; empty when there is none. */
    browserEndpoint: string
  }
}

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const executablePath = findBrowser()
  if (executablePath === undefined) {
    project.provide('browserEndpoint', '')
    return undefined
  }
  const browser = await chromium.launchServer({
    executablePath,
    headless: true,
    timeout: 180_000,
    // Without the middle ones a browser looks for its maker's hosts at every start.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-default-apps',
      '--no-first-run',
      // Another site, for the tests that attack from one.
      '--host-resolver-rules=MAP evil.test 127.0.0.1',
    ],
  })
  project.provide('browserEndpoint', browser.wsEndpoint())
  return () => browser.close()
}
