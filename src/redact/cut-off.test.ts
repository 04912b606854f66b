import { describe, expect, it } from 'vitest'
import { fakeKeys, scrambled } from '../../test/fake-keys.ts'
import { valuesOf } from '../../test/redaction/template.ts'
import { VENDOR_SHAPES } from '../../test/redaction/vendor-values.ts'
import { createRedactor } from './redactor.ts'
import { VENDOR_RULES } from './vendor-rules.ts'

const redactor = createRedactor({
  key: Buffer.alloc(32, 7),
  env: { DEPLOY_TOKEN: 'known-value-1', DB_PASSWORD: 'tr0ub4dor' },
})

/** Prefixes of keys that begin with one. */
const PREFIXES = VENDOR_RULES.filter(({ lead, id }) => lead === undefined && id !== 'api-key').flatMap(
  ({ literals }) => literals,
)
const prefixOf = (key: string): string | undefined =>
  PREFIXES.filter((literal) => key.toLowerCase().startsWith(literal)).sort((a, b) => a.length - b.length)[0]

const keys = [
  ...fakeKeys().map(([, key]) => key),
  ...valuesOf('', VENDOR_SHAPES).map(({ text }) => text),
].filter((key) => prefixOf(key) !== undefined && !key.includes(' '))

describe('the end of a text that was cut off', () => {
  it('keeps nothing of a key, wherever it was cut, whoever made it', () => {
    expect(keys.length).toBeGreaterThan(250)
    for (const key of keys) {
      const prefix = prefixOf(key) as string
      for (let length = prefix.length + 1; length < key.length; length += 1) {
        const text = redactor.cutText(`The key is ${key.slice(0, length)}`)
        expect(text, `${key} at ${length}`).toMatch(/\[REDACTED:[a-z0-9-]+:[0-9a-f]{8}\]$/)
        // Names such as `AccountKey=` stay.
        const rest = text.replaceAll(/\[REDACTED:[^\]]*\]/g, '')
        expect(rest.length, text).toBeLessThanOrEqual('The key is '.length + prefix.length)
      }
    }
  })

  it.each([
    ['a variable', 'export DB_PASSWORD=', 'hx7'],
    ['JSON', '{"command":"login","password":"', 'hx'],
    ['JSON in JSON', '{\\"api_key\\":\\"', 'ab1'],
    ['a header', 'Authorization: Bearer ', 'ab1'],
    ['an address', 'postgres://app:', 'hx'],
    ['a known value', 'it is ', 'known-v'],
    ['the beginning of a private key', '-----BEGIN RSA PRIVATE KEY-----\n', scrambled(12, 4)],
  ])('keeps nothing of the value in %s', (_, before, value) => {
    expect(redactor.cutText(before + value)).not.toContain(value)
  })

  it.each([
    'a task of the disk',
    'see http://localhost:3000',
    'The key is ',
    'the password:',
    'export DB_PASSWORD=$',
    'risk-assessment',
  ])('keeps %j as it is', (text) => {
    expect(redactor.cutText(text)).toBe(text)
  })

  it('changes nothing a second time', () => {
    for (const key of keys.slice(0, 50)) {
      const once = redactor.cutText(`The key is ${key.slice(0, 9)}`)
      expect(redactor.cutText(once)).toBe(once)
    }
  })
})
