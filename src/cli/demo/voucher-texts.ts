/** What files, tests and tools say in the story of the voucher. */

const ESC = '\u001b'
export const red = (text: string): string => `${ESC}[31m${text}${ESC}[39m`
export const green = (text: string): string => `${ESC}[32m${text}${ESC}[39m`
export const dim = (text: string): string => `${ESC}[2m${text}${ESC}[22m`
export const badge = (text: string, colour: number): string => `${ESC}[1;97;${colour}m ${text} ${ESC}[0m`

export const CWD = '/home/ada/ferry-shop'

export const todos = (done: number) =>
  ['Write a test that fails', 'Round once, at the end', 'Check the checkout in the browser'].map(
    (content, at) => ({
      content,
      status: at < done ? 'completed' : at === done ? 'in_progress' : 'pending',
      activeForm: content.replace(/^(\w+)/, '$1ing').replace('Writeing', 'Writing'),
    }),
  )

export const TOTAL_BEFORE = `     1\timport type { Voucher } from './voucher.ts'
    17\t/** What is left of a price. */
    18\texport function discounted(cents: number, voucher?: Voucher): number {
    19\t  if (voucher === undefined) return cents
    20\t  return cents * (1 - voucher.percent / 100)
    21\t}`

export const NEW_TEST = `import { expect, it } from 'vitest'
import { discounted } from './total.ts'

it('rounds a discounted sum once', () => {
  expect(discounted(7200, { code: 'SUMMER15', percent: 15 })).toBe(6120)
  expect(discounted(3333, { code: 'SUMMER15', percent: 15 })).toBe(2833)
})
`

export const INVOICES = `from ferry.cart import Line, Voucher


def total(lines: list[Line], voucher: Voucher | None) -> int:
    """Cents to be paid."""
    if voucher is None:
        return sum(line.cents for line in lines)
    return sum(round(line.cents * (1 - voucher.percent / 100)) for line in lines)`

export const ANSWER = `## Why a cent was missing

\`discounted\` multiplied **each line** by \`0.85\` and nobody rounded: the parts of a cent were cut off when the sum was printed.

| line | cents | × 0.85 | printed |
|---|---:|---:|---:|
| adult | 3,600 | 3,059.99… | 30.59 |
| adult | 3,600 | 3,059.99… | 30.59 |
| **sum** | 7,200 | 6,119.99… | **61.19** |

The discount is now taken from the sum, in whole numbers, and rounded once:

\`\`\`ts
export function discounted(cents: number, voucher?: Voucher): number {
  if (voucher === undefined) return cents
  // Rounded once, at the end: cents are whole.
  return Math.round((cents * (100 - voucher.percent)) / 100)
}
\`\`\`

1. \`src/cart/total.ts\` rounds
2. \`src/pages/checkout.tsx\` discounts the sum, not each line
3. \`src/cart/total.test.ts\` holds both

Half cents are explained in [the guide to money](https://example.com/money/rounding).`

export function testOutput(isFixed: boolean): string {
  const head = `\n ${badge('RUN', 44)} ${dim('v4.1.12')} ${CWD}\n`
  if (isFixed)
    return `${head}\n ${green('✓')} src/cart/total.test.ts ${dim('(2 tests)')} ${dim('3ms')}\n ${green('✓')} src/cart/voucher.test.ts ${dim('(9 tests)')} ${dim('11ms')}\n\n ${dim('Test Files')}  ${green('2 passed')} ${dim('(2)')}\n ${dim('     Tests')}  ${green('11 passed')} ${dim('(11)')}\n`
  return `${head}\n ${red('❯')} src/cart/total.test.ts ${dim('(2 tests | ')}${red('1 failed')}${dim(')')}\n   ${red('× rounds a discounted sum once')}\n\n${badge('FAIL', 41)} src/cart/total.test.ts > rounds a discounted sum once\n${red('AssertionError: expected 2833.05 to be 2833')}\n\n${green('- Expected')}\n${red('+ Received')}\n\n${green('- 2833')}\n${red('+ 2833.05')}\n\n ${dim('Test Files')}  ${red('1 failed')} | ${green('1 passed')} ${dim('(2)')}\n`
}

/** Long enough to fill a context. */
export function ledger(route: string): string {
  const rows = Array.from(
    { length: 420 },
    (_, at) =>
      `${String(at + 1).padStart(3)}  ${route.padEnd(8)} adult  36.00  -15%  ${(30.6 - (at % 7) * 0.01).toFixed(2)}  booked 2026-08-${String(1 + (at % 28)).padStart(2, '0')}`,
  )
  return `line route    fare  price  off   total\n${rows.join('\n')}\n420 lines, 56 of them off by a cent`
}
