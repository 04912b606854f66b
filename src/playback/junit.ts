/** A verdict as JUnit's XML, which every CI reads: a test for each recorded call, and one for what the recording does not have. */
import { differenceLine } from './miss.ts'
import type { Divergence, Verdict } from './verify.ts'

export function toJunit({ session, calls, divergences, unasked, parted }: Verdict): string {
  const byCall = new Map<number | undefined, Divergence[]>()
  for (const one of divergences) {
    const own = byCall.get(one.call)
    if (own === undefined) byCall.set(one.call, [one])
    else own.push(one)
  }
  const [left, others] = [new Set(unasked), new Set(parted)]
  const cases = Array.from({ length: calls.recorded }, (_, at) => {
    const told = byCall.get(at + 1)
    // Divergences are told up to a hundred; what is not told did not pass.
    const own = left.has(at + 1)
      ? [untold('a recorded call was not asked for')]
      : others.has(at + 1)
        ? [untold('asked otherwise')]
        : []
    return testCase(`call ${at + 1}`, session, told ?? own)
  })
  const strange = byCall.get(undefined) ?? []
  if (strange.length > 0) cases.push(testCase('not in the recording', session, strange))
  const failures = cases.filter((one) => one.includes('<failure')).length
  const head = `name="hansard replay ${escaped(session)}" tests="${cases.length}" failures="${failures}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite ${head}>\n${cases.join('')}</testsuite>\n</testsuites>\n`
}

function untold(what: string): Divergence {
  return { drift: 'request', where: 'request', what, differences: [] }
}

function testCase(name: string, session: string, divergences: readonly Divergence[]): string {
  const open = `  <testcase classname="${escaped(session)}" name="${escaped(name)}"`
  if (divergences.length === 0) return `${open}/>\n`
  const failures = divergences.map(({ drift, where, what, citation, differences }) => {
    const text = [
      ...(citation === undefined ? [] : [`at ${citation}`]),
      ...differences.map(differenceLine),
    ].join('\n')
    return `    <failure type="${drift} drift, ${where}" message="${escaped(what)}">${escaped(text)}</failure>\n`
  })
  return `${open}>\n${failures.join('')}  </testcase>\n`
}

/** Also what XML has no way to say. */
function escaped(text: string): string {
  return text
    .replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
}
