/**
 * The session that the sample is read for: a wrong total at a checkout, with all that a transcript can have. Thoughts, a subagent,
 * edits, tests that fail in colour, a picture, a secret that somebody printed, a pause, a compaction, a line that was cut off.
 */
import { createClaudeLog } from './claude-log.ts'
import { drawReceipt } from './picture.ts'
import {
  ANSWER,
  CWD,
  INVOICES,
  NEW_TEST,
  TOTAL_BEFORE,
  dim,
  green,
  ledger,
  testOutput,
  todos,
} from './voucher-texts.ts'

export const VOUCHER = 'de000001-0000-4000-8000-000000000001'
export const VOUCHER_AGENT = 'a7c31e'
const KEY = '9fTq2LmZ8vXw4RbK'
const LOOK_FOR =
  'Find every place in this repository that computes a price from cents, and say how it rounds.'

export type Story = {
  readonly main: string
  readonly agents: readonly { readonly name: string; readonly text: string }[]
}

export function voucherStory(begins: number): Story {
  const to = createClaudeLog({
    id: VOUCHER,
    cwd: CWD,
    branch: 'fix/voucher-total',
    model: 'claude-opus-4-8',
    begins,
    context: 21_400,
  })
  to.user(
    'The checkout shows a **wrong total** when a voucher is used: two adult tickets to Skagen with `SUMMER15` come to 61.19 instead of 61.20.\n\nPlease find out why, fix it, and add a test.',
  )
  to.thinks(
    'A difference of one cent sounds like rounding: either each line is rounded before the sum, or the discount is computed in floating point. I look at how prices are computed before I change anything.',
  )
  to.uses(
    'Grep',
    { pattern: 'discount|voucher', path: 'src', output_mode: 'content' },
    'src/cart/total.ts:18:export function discounted(cents: number, voucher?: Voucher): number {\nsrc/cart/total.ts:20:  return cents * (1 - voucher.percent / 100)\nsrc/cart/voucher.ts:4:export type Voucher = { code: string; percent: number }\nsrc/pages/checkout.tsx:41:  const total = lines.reduce((sum, line) => sum + discounted(line.cents, voucher), 0)',
    { says: 'I will look at how the total is made.' },
  )
  to.uses('Read', { file_path: `${CWD}/src/cart/total.ts` }, TOTAL_BEFORE, { takes: 0.1 })
  to.uses(
    'Task',
    { description: 'Find other places that round', prompt: LOOK_FOR, subagent_type: 'explorer' },
    [
      {
        type: 'text',
        text: 'Three places: `total.ts` does not round at all, `invoice.ts` rounds each line, `refund.ts` rounds the sum.',
      },
    ],
    { takes: 41 },
  )
  const agent = explorer(to.now() - 38_000)
  to.uses('mcp__browser__screenshot', { url: 'http://localhost:5173/checkout?voucher=SUMMER15' }, [
    { type: 'text', text: 'The checkout with the voucher. The total reads 61.19.' },
    {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: drawReceipt() },
    },
  ])
  to.uses(
    'TodoWrite',
    { todos: todos(0) },
    'Todos have been modified successfully. Continue to track your progress.',
    { takes: 0.1 },
  )
  to.uses(
    'Write',
    { file_path: `${CWD}/src/cart/total.test.ts`, content: NEW_TEST },
    `File created successfully at: ${CWD}/src/cart/total.test.ts`,
    { says: 'First a test that fails for the right reason.', takes: 0.2 },
  )
  to.uses(
    'Bash',
    { command: 'npx vitest run src/cart', description: 'Run the tests of the cart' },
    testOutput(false),
    { isError: true, takes: 4.8 },
  )
  to.uses(
    'Edit',
    {
      file_path: `${CWD}/src/cart/total.ts`,
      old_string: `  if (voucher === undefined) return cents\n  return cents * (1 - voucher.percent / 100)`,
      new_string: `  if (voucher === undefined) return cents\n  // Rounded once, at the end: cents are whole.\n  return Math.round((cents * (100 - voucher.percent)) / 100)`,
    },
    'The file has been updated.',
    { takes: 0.1 },
  )
  to.uses(
    'Edit',
    {
      file_path: `${CWD}/src/pages/checkout.tsx`,
      old_string: `  const total = lines.reduce((sum, line) => sum + discounted(line.cents, voucher), 0)`,
      new_string: `  const sum = lines.reduce((cents, line) => cents + line.cents, 0)\n  const total = discounted(sum, voucher)`,
    },
    'The file has been updated.',
    { takes: 0.1 },
  )
  to.uses(
    'Bash',
    { command: 'npx vitest run src/cart && npm run typecheck', description: 'Tests and types' },
    testOutput(true),
    { takes: 9.1 },
  )
  to.uses('TodoWrite', { todos: todos(2) }, 'Todos have been modified successfully.', { takes: 0.1 })
  to.says(ANSWER)
  to.breaks()
  to.waits(47 * 60)
  to.user('Good. Does the server compute it the same way? The invoice said 61.19 too.')
  to.uses(
    'Bash',
    { command: 'cat .env && psql -c "select code, percent from vouchers limit 3"' },
    // Of no account, but of the shape of a key: shown to show that it is not.
    `PAYMENTS_KEY=${['sk', 'live', KEY.repeat(2)].join('_')}\nDATABASE_URL=postgres://ferry:${KEY.toLowerCase()}@localhost/ferry\n   code   | percent\n----------+---------\n SUMMER15 |      15\n STUDENT  |      25\n(2 rows)`,
    { takes: 1.3 },
  )
  to.uses(
    'Read',
    { file_path: `${CWD}/server/invoice.py` },
    'File does not exist. Did you mean server/invoices.py?',
    { isError: true, takes: 0.1 },
  )
  to.uses('Read', { file_path: `${CWD}/server/invoices.py` }, INVOICES, { takes: 0.1 })
  for (const name of ['skagen', 'anholt', 'laesoe', 'samso'])
    to.uses(
      'Bash',
      { command: `python -m ferry.invoice --route ${name} --voucher SUMMER15 --dry-run` },
      ledger(name),
      {
        takes: 2.2,
      },
    )
  to.compacts(
    'This session is continued from one that ran out of context. The total at the checkout is fixed in `src/cart/total.ts` and tested. What is left: the invoice on the server rounds each line; it must round the sum, as the checkout does now.',
  )
  to.uses(
    'MultiEdit',
    {
      file_path: `${CWD}/server/invoices.py`,
      edits: [
        {
          old_string: '    return sum(round(line.cents * (1 - voucher.percent / 100)) for line in lines)',
          new_string:
            '    cents = sum(line.cents for line in lines)\n    return round_half_up(cents * (100 - voucher.percent), 100)',
        },
        {
          old_string: 'from ferry.cart import Line, Voucher',
          new_string: 'from ferry.cart import Line, Voucher\nfrom ferry.money import round_half_up',
        },
      ],
    },
    'Applied 2 edits.',
    { takes: 0.1 },
  )
  to.uses(
    'Bash',
    { command: 'pytest server -q' },
    `${green('.')}${green('.')}${green('.')}${green('.')} ${dim('[100%]')}\n${green('4 passed')} in 1.84s`,
    { takes: 3.4 },
  )
  to.says(
    'The server now rounds **once**, as the checkout does: the invoice of two adult tickets with `SUMMER15` is 61.20. `round_half_up` keeps to whole numbers, so Python’s rounding to even does not matter.\n\n- `server/invoices.py`: the sum is rounded, not each line\n- all tests of cart and server pass',
  )
  to.user('Thanks, commit it.')
  to.uses(
    'Bash',
    { command: 'git commit -am "fix(cart): round totals once, after the voucher"' },
    '[fix/voucher-total 4be19c7] fix(cart): round totals once, after the voucher\n 4 files changed, 41 insertions(+), 6 deletions(-)',
    { takes: 0.6 },
  )
  to.says('Committed as `4be19c7` on `fix/voucher-total`.')
  return { main: to.text(), agents: [{ name: VOUCHER_AGENT, text: agent }] }
}

/** What the subagent did, on a cheaper model. */
function explorer(begins: number): string {
  const to = createClaudeLog({
    id: VOUCHER,
    cwd: CWD,
    branch: 'fix/voucher-total',
    model: 'claude-haiku-4-5',
    begins,
    agent: VOUCHER_AGENT,
    context: 6100,
  })
  to.user(LOOK_FOR)
  to.uses(
    'Grep',
    { pattern: 'Math\\.round|round\\(|toFixed', glob: '*.{ts,tsx,py}' },
    'src/cart/refund.ts\nserver/invoices.py\nsrc/pages/orders.tsx',
  )
  to.uses('Read', { file_path: `${CWD}/src/cart/refund.ts` }, '12\treturn Math.round(sum * share)')
  to.uses(
    'Read',
    { file_path: `${CWD}/src/pages/orders.tsx`, offset: 9000 },
    'The offset is beyond the end of the file (212 lines).',
    { isError: true },
  )
  to.says(
    'Three places: `total.ts` does not round at all, `invoice.ts` rounds each line, `refund.ts` rounds the sum.',
  )
  return to.text()
}
