/** Smaller sessions of Claude Code: one that goes round in circles, one of a model that nobody has a price for, and a month of others. */
import type { JsonObject } from '../../transcript/json.ts'
import { createClaudeLog } from './claude-log.ts'

export type LogFile = { readonly id: string; readonly cwd: string; readonly text: string }

const HOUR = 3_600_000
const idOf = (number: number): string =>
  `de0000${String(number).padStart(2, '0')}-0000-4000-8000-000000000000`

/** The same command with the same end, the same file read again and again. */
export function loopStory(begins: number): LogFile {
  const [id, cwd] = [idOf(2), '/home/ada/ferry-shop']
  const to = createClaudeLog({ id, cwd, branch: 'main', model: 'claude-haiku-4-5', begins })
  to.user('The e2e test "books a bicycle" is flaky. Make it pass.')
  const file = { file_path: `${cwd}/e2e/booking.spec.ts` }
  const test = { command: 'npx playwright test booking --retries 0' }
  for (let round = 0; round < 7; round += 1) {
    to.uses(
      'Read',
      file,
      "12\tawait page.click('#bicycle')\n13\tawait expect(page.locator('.total')).toBeVisible()",
    )
    to.uses(
      'Bash',
      test,
      `Running 1 test using 1 worker\n\u001b[31m  ✘  1 booking.spec.ts:9:1 › books a bicycle (30.0s)\u001b[39m\n    Error: Timed out 30000ms waiting for expect(locator).toBeVisible()\nexit code 1`,
      { isError: true, takes: 31 },
    )
    if (round === 2)
      to.uses(
        'Edit',
        {
          ...file,
          old_string: "await page.click('#bicycle')",
          new_string: "await page.click('#bicycle')\nawait page.waitForTimeout(1000)",
        },
        'The file has been updated.',
      )
  }
  for (const command of [
    'npm run dev -- --port 5173',
    'curl -fsS localhost:5173/health',
    'docker compose up -d web',
  ])
    to.uses('Bash', { command }, 'not allowed in this session\nexit code 126', { isError: true, takes: 0.3 })
  to.says(
    'I could not make it pass: the page that the test opens answers with **502**. The server that it needs is not running, and I am not allowed to start it.',
  )
  return { id, cwd, text: to.text() }
}

/** A model without a price: its tokens are counted, its cost is not known. */
export function unpricedStory(begins: number): LogFile {
  const [id, cwd] = [idOf(3), '/home/ada/tide-tables']
  const to = createClaudeLog({ id, cwd, branch: 'main', model: 'driftwood-1-preview', begins })
  to.user('Sum up what changed in the tide tables since last year.')
  to.uses('Bash', { command: 'git log --since=1.year --oneline -- tables | wc -l' }, '     214')
  to.uses(
    'Glob',
    { pattern: 'tables/**/*.csv' },
    'tables/esbjerg.csv\ntables/hvide-sande.csv\ntables/thyboron.csv',
  )
  to.says(
    '214 changes, nearly all of them **new years** in existing tables. Two tables are new: `hvide-sande` and `thyboron`.',
  )
  return { id, cwd, text: to.text() }
}

const TASKS: readonly (readonly [prompt: string, file: string, answer: string])[] = [
  [
    'Add keyboard shortcuts to the timetable',
    'src/pages/timetable.tsx',
    'Arrows go through departures, `/` searches, `Esc` closes.',
  ],
  [
    'Why does the nightly export run twice?',
    'ops/cron.ts',
    'Both hosts have the timer. It now takes a lock first.',
  ],
  [
    'Make the seat map work on a phone',
    'src/seats/map.tsx',
    'The map scrolls by itself, and seats are 44 pixels wide.',
  ],
  [
    'Move the mail templates out of the code',
    'server/mail.py',
    'Templates are files now, one for each language.',
  ],
  [
    'Write tests for the retry queue',
    'src/queue/retry.test.ts',
    'Twelve tests; one of them found that a message could be sent twice.',
  ],
  [
    'Upgrade the database driver',
    'package.json',
    'Upgraded. Dates come as text now, so two parsers had to change.',
  ],
  [
    'Find what makes the start page slow',
    'src/pages/home.tsx',
    'The hero picture has 4 MB. Resized, the page is there in 0.9 s.',
  ],
  [
    'Translate the booking page to Danish',
    'src/i18n/da.json',
    '84 texts. Two of them are too long for their button and wrap.',
  ],
  [
    'Explain how refunds are computed',
    'src/cart/refund.ts',
    'Full until 24 hours before departure, half until one hour, then nothing.',
  ],
  [
    'Rename `pax` to `passengers` everywhere',
    'src/cart/types.ts',
    'Renamed in 31 files; the API still answers to both for a version.',
  ],
]
const PLACES: readonly (readonly [cwd: string, branch: string])[] = [
  ['/home/ada/ferry-shop', 'main'],
  ['/home/ada/ferry-shop', 'feature/seats'],
  ['/home/ada/tide-tables', 'main'],
  ['/home/ada/notes', 'main'],
  ['/home/ada/harbour-api', 'fix/export'],
]
const MODELS = ['claude-sonnet-4-6', 'claude-opus-4-8', 'claude-sonnet-4-6', 'claude-haiku-4-5']

/** Sessions of the last month, fewer at weekends, each a prompt, some work and an answer. `now` is when the last could have ended. */
export function everydayStories(now: number, count = 44): readonly LogFile[] {
  return Array.from({ length: count }, (_, number) => {
    const [prompt, file, answer] = TASKS[number % TASKS.length] ?? ['', '', '']
    const [cwd, branch] = PLACES[(number * 3) % PLACES.length] ?? ['', '']
    const model = MODELS[(number * 5) % MODELS.length] ?? ''
    const id = idOf(10 + number)
    const begins = now - Math.round((11 + number * 15.7 + ((number * 7) % 5)) * HOUR)
    const to = createClaudeLog({ id, cwd, branch, model, begins, context: 12_000 + ((number * 977) % 9000) })
    to.user(number < TASKS.length ? prompt : `${prompt}, part ${Math.floor(number / TASKS.length) + 1}`)
    const rounds = 1 + ((number * 5) % 7)
    for (let round = 0; round < rounds; round += 1) {
      to.uses('Read', { file_path: `${cwd}/${file}` }, lines(20 + ((number * 31 + round * 17) % 120)))
      if (round % 2 === 0) to.uses('Edit', edit(cwd, file, round), 'The file has been updated.')
      const isError = (number + round) % 6 === 4
      to.uses('Bash', { command: 'npm test' }, isError ? '1 failed, 38 passed' : '39 passed', {
        isError,
        takes: 3 + ((number * 3 + round) % 9),
      })
      if (round === 2) {
        to.says('That is a first part. Shall I go on?')
        to.waits(300 + number * 13)
        to.user('Yes, go on.')
      }
    }
    to.says(answer)
    return { id, cwd, text: to.text() }
  })
}

const edit = (cwd: string, file: string, round: number): JsonObject => ({
  file_path: `${cwd}/${file}`,
  old_string: `const limit = ${10 + round}`,
  new_string: `const limit = ${20 + round}\nconst patience = ${round}`,
})

const lines = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `${String(at + 1).padStart(5)}\tconst value${at} = compute(${at * 7})`,
  ).join('\n')
