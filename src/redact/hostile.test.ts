import { describe, expect, it } from 'vitest'
import { fakeKeys, HEX, scrambled } from '../../test/fake-keys.ts'
import { NAME_LITERALS } from './names.ts'
import { createRedactor } from './redactor.ts'
import { LITERALS } from './text.ts'

const redactor = () =>
  createRedactor({
    key: Buffer.alloc(32, 7),
    env: { A_TOKEN: 'aaaaaaaaaaaaaaab1', B_SECRET: 'known-value-2', C_PASSWORD: 'known-value-3' },
  })

/** Of the processor, not of the wall: tests share the machine. */
function milliseconds(work: () => void): number {
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

const repeated = (unit: string, size: number): string =>
  unit.repeat(Math.ceil(size / unit.length)).slice(0, size)

/** Texts that a pattern could choke on: every literal repeated, with what comes next in its pattern and with what spoils it. */
const HOSTILE: readonly string[] = [
  ...LITERALS.flatMap((literal) => [
    literal,
    `${literal}a!`,
    ` ${literal}aaaaaaa`,
    `${literal} a `,
    `${literal}=a1 -p `,
    `a1b2${literal}`,
  ]),
  ...NAME_LITERALS.flatMap((name) => [name, `${name}=`, `${name}: "`, `"${name}":"a`, `${name}='a1b2c3d4`]),
  'a',
  'A1',
  'eyJ',
  '-eyJaaaaaaaaaaaa',
  'eyJaaaaaaaaaaaa.',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----!',
  `-----BEGIN PRIVATE KEY-----${'A'.repeat(30)}!`,
  '-----BEGIN ',
  '://',
  '://a:b',
  '://a:',
  '1234567890:AA',
  'Authorization: Bearer ',
  'authorization:authorization:',
  'cookie: a=b;cookie: a=b',
  'bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaa ',
  '?key=aaaaaaaaaaaaaaaa&sig=',
  'token="token=\'token=`',
  '\\\\\\"password\\\\\\":',
  '[REDACTED:',
  '[REDACTED:x:1234567',
  '%',
  '\\n',
  '\\u0041',
  'aaaaaaaaaaaaaaa',
  '\u0173\u0174\uD800',
]

describe('time', () => {
  it('is bounded, and grows with the text and not faster, on anything', () => {
    const r = redactor()
    const time = (unit: string, size: number): number => milliseconds(() => r.text(repeated(unit, size)))
    const worst = HOSTILE.map((unit) => [time(unit, 10_000), unit] as const)
      .sort(([a], [b]) => b - a)
      .slice(0, 3)
    for (const [, unit] of worst) {
      const small = Math.min(time(unit, 125_000), time(unit, 125_000))
      const large = time(unit, 1_000_000)
      // A megabyte in seconds, where a quadratic pattern takes minutes; and eight times the text in about eight times the time.
      expect(large, JSON.stringify(unit)).toBeLessThan(5_000)
      expect(large / small, JSON.stringify(unit)).toBeLessThan(24)
    }
  })
})

/** What transcripts are full of: none of it is a secret. */
function cleanText(): string {
  const lines: string[] = []
  for (let seed = 1; lines.join('\n').length < 300_000 && seed < 400; seed += 1) {
    const hex = (length: number): string => scrambled(length, seed, HEX)
    const any = (length: number): string => scrambled(length, seed)
    const uuid = `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
    const sha512 = Buffer.from(hex(128), 'hex').toString('base64')
    lines.push(
      `    "node_modules/p${seed}": { "version": "1.${seed}.0", "resolved": "https://registry.npmjs.org/p/-/p-1.${seed}.0.tgz", "integrity": "sha512-${sha512}" },`,
      `commit ${hex(40)}`,
      `index ${hex(7)}..${hex(8)} 100644`,
      `-  const token${seed} = tokenizer.next${seed}(), key = keys[${seed}], secretary = people.get(${seed})`,
      `+  if(t.password!==e.password)return n.setState({passwordError:"Passwords must match (min ${seed} characters)"})`,
      `{"type":"tool_use","id":"toolu_${any(24)}","name":"Bash","input":{"command":"git show ${hex(12)}"}}`,
      `{"id":"call_${any(24)}","requestId":"req_${any(24)}","message":{"id":"msg_${any(24)}"},"uuid":"${uuid}","sessionId":"${uuid}"}`,
      `{"usage":{"input_tokens":${seed}1234,"cache_read_input_tokens":123456${seed},"output_tokens":${seed}},"max_tokens":${seed}000}`,
      `!function(e,t){"use strict";var n=e.a${seed}||{},r=t.b("${any(12)}");function o(e){return e.token=r.token,i(e.key)}}(this,window);`,
      `background:url(data:image/png;base64,${any(200)})`,
      `"nextPageToken": "", "etag": "W/\\"${hex(32)}\\"", "cacheKey": "sha256:${hex(64)}", "checksum": "${hex(64)}"`,
      `export const API_KEY_HEADER = 'x-api-key' // see docs/authentication.md#tokens, then set PASSWORD in .env`,
      `password: z.string().min(12), token: z.string().uuid(), secret: z.literal("${seed}")`,
      `Authorization: Bearer \${process.env.API_TOKEN_${seed}} and then Cookie consent: yes`,
      `risk-${seed}-assessment-task-force-and-disk-usage-report-2024-edition.md /usr/lib/${any(10)}/${hex(16)}.so.${seed}`,
      `docker run -e DB_PASSWORD=$DB_PASSWORD -e TOKEN=\${TOKEN:-none} image@sha256:${hex(64)}`,
      `expires: 2026-01-${String((seed % 28) + 1).padStart(2, '0')}T00:00:00Z, token_type: bearer, scope: read:user,repo`,
    )
  }
  return lines.join('\n')
}

describe('clean text', () => {
  it('has at most one false find in 100 KB', () => {
    const text = cleanText()
    const r = redactor()
    const redacted = r.text(text)
    const finds = redacted.match(/\[REDACTED:[^\]]*\]/g) ?? []
    expect(text.length).toBeGreaterThan(300_000)
    expect(finds.length, finds.slice(0, 5).join(' ')).toBeLessThanOrEqual(Math.floor(text.length / 100_000))
  })

  it('stays within three times the promised 15 ms a megabyte, since tests share the machine', () => {
    const text = cleanText()
    const r = redactor()
    r.text(text)
    // Others slow a processor down, for some hundredths of a second or for some tenths: it is enough to be as fast once.
    let best = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < 100 && best >= 45; tries += 1)
      best = Math.min(best, milliseconds(() => r.text(text)) / (text.length / 1e6))
    expect(best).toBeLessThan(45)
  })

  it('does not hide a secret in the middle of it', () => {
    const text = cleanText()
    const middle = text.indexOf('\n', text.length / 2)
    for (const [, key] of fakeKeys()) {
      const redacted = redactor().text(
        `${text.slice(middle - 5_000, middle)}\n${key}${text.slice(middle, middle + 5_000)}`,
      )
      expect(redacted).not.toContain(key.slice(-20))
    }
  })
})
