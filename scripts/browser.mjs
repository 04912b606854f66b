// The browser that the page's tests need: looked for, installed where that is ours to do, and said plainly where it is not.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first is Chromium without its windows: the same pages for less of a processor's time. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'microsoft-edge',
  'msedge',
]
const ELSEWHERE = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  '/snap/bin/chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
]

/** `CHROME_PATH`, or whatever of Chromium's kind is installed. */
export function findBrowser() {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const folders = (process.env.PATH ?? '').split(delimiter)
  const named = NAMES.flatMap((name) => folders.map((folder) => join(folder, `${name}${suffix}`)))
  return [process.env.CHROME_PATH ?? '', ...named, ...ELSEWHERE].find(
    (path) => path !== '' && existsSync(path),
  )
}

/** On a Debian machine that we are root of, such as a container for tests, Chromium is a package like any other. */
export function ensureBrowser() {
  if (findBrowser() !== undefined) return
  const mayInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
  if (mayInstall) {
    console.error('no browser for the tests of the page: installing chromium …')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    const apt = (...args) =>
      spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0
    // Not every release has the one without windows.
    const install = () =>
      NAMES.slice(0, 2).some((name) => apt('install', '-y', '--no-install-recommends', name))
    if (!install()) {
      apt('update')
      install()
    }
  }
  if (findBrowser() !== undefined) return
  console.error(
    'No browser was found: the tests of the page (test/page*.test.ts) will fail.\n' +
      'Install Chromium or Chrome, or say where it is: CHROME_PATH=/path/to/chrome npm test',
  )
}
