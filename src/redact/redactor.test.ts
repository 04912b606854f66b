import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transcript } from '../../test/arbitrary.ts'
import type { Entry } from '../transcript/entry.ts'
import { toJson, type Json } from '../transcript/json.ts'
import { fakeKeys, githubToken, HEX, scrambled } from '../../test/fake-keys.ts'
import { createRedactor, type RedactorOptions } from './redactor.ts'

const KEY = Buffer.alloc(32, 7)
const redactor = (options: Partial<RedactorOptions> = {}) => createRedactor({ key: KEY, ...options })
const entry = (facts: Partial<Entry>): Entry => ({
  id: 'e1',
  source: 'primary',
  sequence: 0,
  kind: 'message',
  blocks: [],
  ...facts,
})

/** True when eight characters of the secret in a row are still there: the number that could not be chance. */
function leaks(text: string, secret: string): boolean {
  const body = secret.replace(/\n/g, '')
  for (let i = body.length - 12; i > 12; i -= 4) if (text.includes(body.slice(i, i + 8))) return true
  return false
}

const AFTER = [',', ')', '}', '<', "'", '"', '\n', '', ' and so on', ';', '`', '\\n', '&x=1', '%22', ']', '|']

describe('vendor keys', () => {
  it.each(fakeKeys())('%s is taken out, wherever it stands and whatever follows', (rule, key) => {
    const places: readonly (readonly [string, (key: string) => string])[] = [
      ['plain', (k) => k],
      ['a sentence', (k) => `the key is ${k}`],
      ['quoted', (k) => `"${k}`],
      ['after a line end', (k) => `x\n${k}`],
      ['after an escaped line end', (k) => `x\\n${k}`],
      ['a call', (k) => `login(${k}`],
      ['an error', (k) => `Error: 401 Incorrect API key provided: ${k}`],
      ['a query', (k) => `https://x.test/a?b=${k}`],
      ['an encoded query', (k) => `https://x.test/a?b=%22${k}`],
      ['a shell', (k) => `curl -H 'x: ${k}`],
      ['a diff', (k) => `+  ${k}`],
    ]
    for (const [place, put] of places) {
      for (const after of AFTER) {
        const text = redactor().text(put(key) + after)
        expect(leaks(text, key), `${place} before ${JSON.stringify(after)}: ${text}`).toBe(false)
        expect(text).toMatch(/\[REDACTED:[a-z0-9-]+:[0-9a-f]{8}\]/)
      }
    }
    expect(redactor().text(`see ${key}`)).toContain(`[REDACTED:${rule}:`)
  })

  it.each(fakeKeys())('%s is taken out of values, keys, lists and JSON in JSON', (_, key) => {
    const shapes: readonly Json[] = [
      { note: key },
      { [key]: 1 },
      [[{ deep: [`a ${key} b`] }]],
      { arguments: JSON.stringify({ nested: key, more: [key] }) },
      { arguments: JSON.stringify(JSON.stringify({ nested: key })) },
    ]
    for (const shape of shapes) {
      const text = toJson(redactor().json(shape))
      expect(leaks(text, key), text).toBe(false)
    }
  })

  it('does not count on being split at the right place', () => {
    for (const [, key] of fakeKeys()) {
      const glued = redactor().text(`${key} ${key},${key}`)
      expect(glued.match(/REDACTED/g)).toHaveLength(3)
    }
  })
})

describe('names', () => {
  const secrets: readonly (readonly [string, string])[] = [
    [`password = "hunter2Hunter2!"`, 'hunter2Hunter2!'],
    [`DB_PASSWORD=${scrambled(14, 3)}1x2`, scrambled(14, 3)],
    [`  SECRET_KEY: '${scrambled(50, 4)}'`, scrambled(50, 4)],
    [`api_key=${scrambled(32, 5, HEX)}`, scrambled(32, 5, HEX)],
    [`{"apiKey":"${scrambled(32, 5, HEX)}"}`, scrambled(32, 5, HEX)],
    [`{\\"client_secret\\":\\"${scrambled(24, 6)}\\"}`, scrambled(24, 6)],
    [`aws_secret_access_key = ${scrambled(20, 7)}/${scrambled(19, 8)}`, scrambled(19, 8)],
    [`"secretAccessKey": "${scrambled(20, 7)}\\/${scrambled(19, 8)}"`, scrambled(19, 8)],
    [`Authorization: Bearer ${scrambled(40, 9)}`, scrambled(40, 9)],
    [
      `-H 'authorization: Basic ${Buffer.from('me:secretWord9').toString('base64')}'`,
      Buffer.from('me:secretWord9').toString('base64'),
    ],
    [`"x-api-key": "${scrambled(24, 10)}"`, scrambled(24, 10)],
    [`Cookie: session=${scrambled(30, 11)}; theme=dark`, scrambled(30, 11)],
    [`Set-Cookie: sid=${scrambled(30, 12)}; Path=/; HttpOnly`, scrambled(30, 12)],
    [`postgres://app:${scrambled(12, 13)}@db.test:5432/x`, scrambled(12, 13)],
    [`https://${scrambled(40, 14)}@git.test/r.git`, scrambled(40, 14)],
    [`https://x.test/v1?alt=sse&key=${scrambled(39, 15)}&y=1`, scrambled(39, 15)],
    [`https://x.test/b?X-Amz-Signature=${scrambled(64, 16, HEX)}`, scrambled(64, 16, HEX)],
    [`https://x.test/b?sv=1&sig=${scrambled(40, 17)}%3D`, scrambled(40, 17)],
    [`DefaultEndpointsProtocol=https;AccountKey=${scrambled(86, 18)}==;`, scrambled(86, 18)],
    [`mysql --password ${scrambled(12, 19)}9z`, scrambled(12, 19)],
    [`<password>${scrambled(16, 20)}1</password>`, scrambled(16, 20)],
    [`//registry.test/:_authToken=${scrambled(36, 21)}`, scrambled(36, 21)],
    [`refresh_token: ${scrambled(40, 22)}`, scrambled(40, 22)],
    [`os.environ["API_TOKEN"] = "${scrambled(30, 23)}"`, scrambled(30, 23)],
  ]
  it.each(secrets)('gives away %s', (text, secret) => {
    const redacted = redactor().text(text)
    expect(redacted).not.toContain(secret)
    expect(redacted).toContain('[REDACTED:')
    expect(redactor().text(redacted)).toBe(redacted)
  })

  const uuid = `${scrambled(8, 30, HEX)}-${scrambled(4, 31, HEX)}-4${scrambled(3, 32, HEX)}-a${scrambled(3, 33, HEX)}-${scrambled(12, 34, HEX)}`
  const lower = (length: number, seed: number) => scrambled(length, seed, 'abcdefghijklmnopqrstuvwxyz')
  const base64 = `/${scrambled(19, 35)}+${scrambled(19, 36)}`
  it.each([
    ['base64 that begins like a path', `AWS_SECRET_ACCESS_KEY=${base64}`, base64],
    ['base64 in quotes that begins like a path', `"secretAccessKey": "${base64}"`, base64],
    ['a key that looks like a member', `GEMINI_API_KEY=AQ.${scrambled(40, 37)}`, scrambled(40, 37)],
    ['a key that looks like a member, quoted', `"apiKey": "AQ.${scrambled(40, 37)}"`, scrambled(40, 37)],
    ['a UUID', `HEROKU_API_KEY=${uuid}`, uuid],
    ['a UUID of npm', `//registry.test/:_authToken=${uuid}`, uuid],
    ['a UUID under a name in capitals', `SNYK_TOKEN=${uuid}`, uuid],
    ['a password in a variable of one word', `PGPASSWORD=${scrambled(12, 38)} psql`, scrambled(12, 38)],
    ['a password of letters', `DB_PASSWORD=${lower(14, 39)}`, lower(14, 39)],
    ['a short password in YAML', `password: ${scrambled(12, 40)}`, scrambled(12, 40)],
    ['a password with a slash in a URL', 'postgres://u:a/b@db.test', 'a/b'],
    ['40 hex digits', `TOKEN=${scrambled(40, 41, HEX)}`, scrambled(40, 41, HEX)],
    ['a variable that ends with KEY', `DD_APP_KEY=${scrambled(40, 42, HEX)}`, scrambled(40, 42, HEX)],
    ['a header of its own', `X-Auth-Key: ${scrambled(37, 43, HEX)}`, scrambled(37, 43, HEX)],
    ['a value that is cut before its closing quote', '{"password":"abc', 'abc'],
    ['a longer one', `{"api_key":"${scrambled(20, 44)}`, scrambled(20, 44)],
  ])('believes %s', (_, text, secret) => {
    expect(redactor().text(text)).not.toContain(secret)
  })

  it('knows a value of the environment that begins like a path', () => {
    const known = redactor({ env: { AWS_SECRET_ACCESS_KEY: base64 } })
    expect(known.text(`it is ${base64}.`)).not.toContain(base64)
  })

  it('keeps the scheme of an authorization, and names the vendor where the key says it', () => {
    const key = githubToken(1)
    const header = redactor().json({ headers: { Authorization: `Bearer ${key}` } })
    expect(toJson(header)).toMatch(
      /^\{"headers":\{"Authorization":"Bearer \[REDACTED:github-token:[0-9a-f]{8}\]"\}\}$/,
    )
    expect(redactor().text(`Authorization: token ${key}`)).toMatch(
      /^Authorization: token \[REDACTED:github-token:/,
    )
  })

  it('believes a key of an object, whatever the value looks like', () => {
    const ids = {
      sessionKey: `agent:main:${scrambled(22, 50)}`,
      file_key: scrambled(22, 51),
      nextToken: scrambled(40, 52),
      lastToken: 'keyword',
    }
    const out = redactor().json({
      password: 'swordfish',
      'set-cookie': ['a=b', 'c=d'],
      env: [{ name: 'DB_PASSWORD', value: 'swordfish' }],
      passwordHint: 'a fish',
      max_tokens: 4096,
      token: ' the',
      cookie: '',
      secret: 'string',
      dedupeKey: 'a1b2c3d4e5',
      schema: { password: { type: 'string' } },
      ...ids,
    })
    const text = toJson(out)
    expect(text).not.toMatch(/swordfish|a=b|c=d/)
    expect(out).toMatchObject({
      passwordHint: 'a fish',
      max_tokens: 4096,
      token: ' the',
      cookie: '',
      secret: 'string',
      dedupeKey: 'a1b2c3d4e5',
      ...ids,
    })
  })

  it.each([
    'const password = process.env.DB_PASSWORD',
    'password: string',
    'token = await getToken2(client)',
    'Authorization: `Bearer ${token}`',
    "'Authorization': 'Bearer ' + token",
    'Authorization: Bearer YOUR_API_KEY_HERE1',
    'api_key="<your-api-key>"',
    'API_KEY=xxxxxxxxxxxxxxxx1',
    'SECRET=${{ secrets.DEPLOY_2024 }}',
    'the tokens: 1234567890, the secretary: Ann',
    'max_tokens=100000, token_count: 1234567890',
    'postgres://user:password@localhost/db',
    'postgres://db.test:5432/app?user=a@b',
    'password = getPasswordOfUser1(config)',
    'passwordEncoding: BasePrivateKeyEncodingOptions',
    'lastSignificantToken = "?NonExpressionParenKeyword"',
    'from x import (HTTPPasswordMgr, ResourceOwnerPasswordCredentialsGrant, AbstractBasicAuthHandler)',
    'const cacheKey = "users:by-name:2024", primaryKey = rows[12]',
    '"password": "Passwort eingeben", "passwd": "パスワードを入力してください"',
    'postgres://${USER}:${PASS}@localhost/db',
    'https://example.com/path?key=short&page=2',
    'token: 123e4567-e89b-12d3-a456-426614174000',
    'token: toolu_01A09q90qw90lq917835lq9',
    'password: /run/secrets/db_password_1',
    'expect(password).toBe(secret1)',
    'git@github.com:owner/repo.git',
    'key=value&sort=1234567890123456',
    '-----BEGIN PRIVATE KEY----- is how one begins',
    'task-management-and-risk-assessment-for-2024-teams',
    'sk-learn and disk-usage-analyzer-2000-edition-for-linux',
    '#define sk_X509V3_EXT_METHOD_find_all(sk, idx) OPENSSL_sk_value(sk)',
    'SRP_user_pwd *SRP_user_pwd_sk_find_ex2(const char *name)',
    'PWD=/tmp/pytest-of-root/pytest-0/a8f7d9e2b1',
    '- proxy_pass: CLOUDSDK_PROXY_PASSWORD',
    'Set default password for encrypted files. The password is required, the token is invalid.',
    'readonly STENCIL_PASS_DEPTH_PASS: 0x0B96',
    '"@aws-sdk/credential-provider-ini": "^0.1.0-preview.2"',
    String.raw`createToken('GTE0PRE', '^\s*>=\s*0\.0\.0\s*$')`,
    '"Login.png","path":"/__modal/1x2y3z4a5b6c"',
    'all columns identified by the "partial2" field',
    'pod checkout-prod-deployment-7d9f8b6c5d-x2x9k restarted',
    'randomseed sin cos tan sinh cosh tanh asin acos atan sqrt floor ceil round',
    'path=a+b+c, cost = price+tax+fees',
  ])('leaves %s alone', (text) => {
    expect(redactor().text(text)).toBe(text)
  })
})

describe('known values', () => {
  const secret = 'p4ss/wörd+"x"\\end'
  const known = redactor({ env: { DEPLOY_TOKEN: secret } })

  it('finds them as they are, escaped, encoded, and in base64 at any alignment', () => {
    const forms = [
      secret,
      JSON.stringify(secret),
      JSON.stringify(JSON.stringify({ a: secret })),
      encodeURIComponent(secret),
      ...[0, 1, 2, 3, 4].map((n) => Buffer.from('x'.repeat(n) + secret + 'tail').toString('base64')),
      ...[0, 1, 2].map((n) => Buffer.from('x'.repeat(n) + secret).toString('base64url')),
    ]
    const marks = forms.map((form) => {
      const text = known.text(`before ${form} after`)
      expect(text).not.toContain(form.slice(4, -4))
      return /\[REDACTED:env-deploy-token:[0-9a-f]{8}\]/.exec(text)?.[0]
    })
    // One secret, one placeholder, however it was written.
    expect(new Set(marks).size).toBe(1)
    expect(marks[0]).toBeDefined()
  })

  it('finds them in images, signatures and encrypted thinking, and nothing else there', () => {
    const image = scrambled(400, 5) + Buffer.from(`..${secret}..`).toString('base64') + scrambled(400, 6)
    const key = githubToken(2)
    const { blocks } = known.entry(
      entry({
        blocks: [
          { type: 'image', mediaType: 'image/png', data: image },
          { type: 'image', url: `data:image/png;base64,${key}` },
          { type: 'thinking', text: '', signature: `${key}${secret}`, redacted: key },
          {
            type: 'unknown',
            raw: { type: 'base64', media_type: 'image/png', data: key, thoughtSignature: key },
          },
        ],
      }),
    )
    expect(toJson(blocks[0])).toContain('[REDACTED:env-deploy-token:')
    expect(toJson(blocks[0])).toContain(scrambled(400, 5).slice(0, 390))
    expect(blocks[1]).toEqual({ type: 'image', url: `data:image/png;base64,${key}` })
    expect(toJson(blocks[2])).toContain(key)
    expect(toJson(blocks[2])).not.toContain('p4ss/w')
    expect(blocks[3]).toMatchObject({ raw: { data: key, thoughtSignature: key } })
  })

  it('takes variables by name, and leaves settings, paths and short values alone', () => {
    const env = {
      GITHUB_TOKEN: 'value-one-1',
      MY_API_KEY: 'value-two-2',
      DATABASE_URL: 'postgres://app:value%2Fthree@db/x',
      SSH_AUTH_SOCK: '/tmp/ssh-1234/agent.1',
      TOKEN_FILE: '/run/token-12345',
      PASSWORD_POLICY: 'at-least-12',
      DB_PASSWORD: 'postgres',
      PIN_SECRET: '1234',
      HOME: '/home/someone',
      EDITOR: 'some-editor-1',
    }
    const r = redactor({ env })
    const all = Object.values(env).join(' | ')
    const out = r.text(all)
    for (const gone of ['value-one-1', 'value-two-2', 'value%2Fthree']) expect(out).not.toContain(gone)
    expect(r.text('value/three')).toContain('[REDACTED:env-database-url:')
    for (const kept of [
      '/tmp/ssh-1234/agent.1',
      '/run/token-12345',
      'at-least-12',
      'postgres:',
      '1234',
      '/home/someone',
      'some-editor-1',
    ]) {
      expect(out).toContain(kept)
    }
  })

  it('takes what a caller names, even a word', () => {
    const r = redactor({ values: [{ name: 'Proxy key', value: 'swordfish' }] })
    expect(r.text('a swordfish swam')).toMatch(/^a \[REDACTED:proxy-key:[0-9a-f]{8}\] swam$/)
  })
})

describe('placeholders', () => {
  const key = githubToken(3)

  it('are the same for the same secret and key, and differ otherwise', () => {
    const one = redactor().text(key)
    expect(redactor().text(key)).toBe(one)
    expect(createRedactor({ key: Buffer.alloc(32, 8) }).text(key)).not.toBe(one)
    expect(redactor().text(githubToken(4))).not.toBe(one)
  })

  it('refuse a key that could be guessed', () => {
    expect(() => createRedactor({ key: Buffer.alloc(8) })).toThrow(/fewer than 16 bytes/)
  })

  it('are counted by rule', () => {
    const r = redactor()
    r.text(`${key} ${key}`)
    r.json({ password: 'swordfish' })
    expect(Object.fromEntries(r.counts())).toEqual({ 'github-token': 2, password: 1 })
  })

  it('stay as they are when redacted again, in any text made of secrets, names and noise', () => {
    const env = { A_TOKEN: 'known-value-1', HEX_SECRET: 'deadbeef01' }
    const r = redactor({ env })
    const piece = fc.oneof(
      fc.constantFrom(...fakeKeys().map(([, fake]) => fake)),
      fc.constantFrom(
        'password',
        'token',
        'Authorization',
        'Cookie',
        'api_key',
        '_auth=',
        '://',
        'Bearer ',
        '?key=',
        '&sig=',
      ),
      fc.constantFrom(
        '=',
        ': ',
        '"',
        "'",
        '\\"',
        '\\n',
        '\n',
        ' ',
        '@',
        '[REDACTED:',
        '[REDACTED:x:12345678]',
        ']',
        '<',
        '>',
      ),
      fc.constantFrom(
        'known-value-1',
        'deadbeef01',
        Buffer.from('known-value-1').toString('base64'),
        'a=b; c=d',
      ),
      fc.string({ maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...'abcXYZ0123456789'.split('')), minLength: 8, maxLength: 24 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = r.text(pieces.join(''))
        expect(r.text(once)).toBe(once)
        const object = r.json({
          [pieces[0] ?? '']: pieces,
          password: pieces.join(''),
          token: pieces[1] ?? '',
        })
        expect(r.json(object)).toEqual(object)
      }),
      { numRuns: 1_500 },
    )
  })
})

describe('entries and sessions', () => {
  it('come back equal when there is nothing to redact', () => {
    const r = redactor()
    fc.assert(
      fc.property(transcript, ({ session, entries }) => {
        expect(r.session(session)).toEqual(session)
        expect(entries.map((one) => r.entry(one))).toEqual(entries)
      }),
      { numRuns: 200 },
    )
  })

  it('are redacted in every place that holds content', () => {
    const key = githubToken(5)
    const out = redactor().entry(
      entry({
        blocks: [
          { type: 'text', text: key },
          { type: 'thinking', text: key },
          { type: 'tool-call', callId: 'toolu_1', name: 'Bash', input: { command: `x ${key}` } },
          { type: 'tool-result', callId: 'toolu_1', output: [{ type: 'text', text: key }], error: key },
          { type: 'tool-result', output: key },
          { type: 'image', url: `https://x.test/${key}` },
          { type: 'error', message: key },
          { type: 'unknown', raw: [key] },
        ],
        usage: { input: 1, quality: 'reported', raw: { note: key } },
        metadata: { x: key },
      }),
    )
    expect(toJson(out)).not.toContain(key.slice(8, 20))
    expect(toJson(out).match(/REDACTED:github-token/g)).toHaveLength(11)
    expect(out.blocks[2]).toMatchObject({ callId: 'toolu_1', name: 'Bash' })

    const session = redactor().session({
      id: 's',
      status: 'failed',
      title: key,
      error: key,
      cwd: `/x/${key}`,
      git: { remote: 'https://me:opensesame1@git.test/r', branch: 'main' },
      input: { prompt: key },
      tags: { [key]: key },
      metadata: { devflow: key },
    })
    expect(toJson(session)).not.toContain(key.slice(8, 20))
    expect(toJson(session)).not.toContain('opensesame1')
  })

  it('are withheld, and nothing else is lost, when the content is too deep to look through', () => {
    let deep: Json = 'bottom'
    for (let i = 0; i < 100_000; i += 1) deep = [deep]
    const usage = { input: 5, quality: 'reported' as const, raw: { a: 1 } }
    const out = redactor().entry(
      entry({
        role: 'assistant',
        at: '2026-01-01T00:00:00.000Z',
        usage,
        metadata: { x: deep },
        blocks: [{ type: 'text', text: 'hello' }],
      }),
    )
    expect(out).toEqual({
      id: 'e1',
      source: 'primary',
      sequence: 0,
      kind: 'message',
      role: 'assistant',
      at: '2026-01-01T00:00:00.000Z',
      usage: { input: 5, quality: 'reported' },
      blocks: [{ type: 'unknown', raw: null, reason: 'content withheld: nested deeper than 400 levels' }],
    })
    const session = redactor().session({ id: 's', status: 'running', title: 't', input: { deep } })
    expect(session).toEqual({
      id: 's',
      status: 'running',
      metadata: { hansard: { withheld: 'content withheld: nested deeper than 400 levels' } },
    })
  })

  it('are withheld when the redactor fails for any reason, without a word of the content', () => {
    const trap = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('the secret is swordfish')
      },
    }) as Json
    const out = redactor().entry(entry({ blocks: [{ type: 'unknown', raw: trap }] }))
    expect(out.blocks).toEqual([
      { type: 'unknown', raw: null, reason: 'content withheld: the redactor failed (Error)' },
    ])
  })

  it('keep keys like __proto__ as keys', () => {
    const key = githubToken(6)
    const raw = JSON.parse(`{"__proto__":{"polluted":"${key}"},"constructor":"${key}"}`) as Json
    const out = redactor().json(raw) as object
    expect(Object.keys(out)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(out)).toBe(Object.prototype)
    expect(toJson(out)).not.toContain(key)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
