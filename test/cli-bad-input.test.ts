/** Whatever a file holds or an argument says: a clear error or reported damage, in bounded memory, and never a stack trace. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { run, temporaryFolder, type Ran } from './program.ts'

const folder = temporaryFolder()
const env = { HANSARD_HOME: join(folder, 'archive') }

const put = (name: string, content: string | Buffer): string => {
  const path = join(folder, name)
  fs.writeFileSync(path, content)
  return path
}

const line = (text: string, extra = ''): string =>
  `{"type":"user","message":{"role":"user","content":${JSON.stringify(text)}},"uuid":"u-${text.slice(0, 8)}","parentUuid":null,` +
  `"isSidechain":false,"userType":"external","sessionId":"s-1","cwd":"/p","version":"2.0.0","timestamp":"2025-01-15T09:15:32.000Z"${extra}}\n`

function expectNoTrace({ stdout, stderr }: Ran): void {
  for (const text of [stdout, stderr]) {
    expect(text).not.toMatch(/^\s+at .*:\d+:\d+/m)
    expect(text).not.toContain('something unexpected happened')
    // What reaches the terminal holds no control character but newline and tab.
    expect(text).not.toMatch(/(?![\n\t])\p{Cc}/u)
  }
}

async function errorOf(
  args: readonly string[],
  heapMb = 200,
): Promise<{ code: string; message: string; hint?: string }> {
  const ran = await run([...args, '--json'], { env, heapMb })
  expectNoTrace(ran)
  expect(ran.code).toBe(1)
  expect(ran.stderr).toBe('')
  return JSON.parse(ran.stdout).error
}

describe('a file that is no transcript', () => {
  it.each([
    ['empty', '', 'empty'],
    ['blank', '\n\n  \n', 'plain text'],
    ['binary', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff, 0xfe]), 'binary'],
    ['NUL-filled', Buffer.alloc(100_000), 'nothing but NUL'],
    ['not UTF-8', Buffer.from([0xff, 0xfe, 0x68, 0x69, 0xc3, 0x28]), 'binary'],
    ['another JSON', '{"__proto__":{"isAdmin":true},"constructor":1}', '__proto__'],
    ['100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'JSON'],
    ['escape sequences', '\u001b]52;c;aGk=\u0007', 'text'],
  ])('%s: says what it looks like, and the way out', async (_, content, looks) => {
    const error = await errorOf(['show', put('bad', content)])
    expect(error).toMatchObject({ code: 'unknown-format', hint: expect.stringContaining('--format') })
    expect(error.message).toContain(looks)
  })

  it('missing, a pipe, a device, an empty folder', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    fs.mkdirSync(join(folder, 'nothing'))
    expect(await errorOf(['show', join(folder, 'none')])).toMatchObject({ code: 'not-found' })
    expect(await errorOf(['show', join(folder, 'pipe')])).toMatchObject({ code: 'unsafe-path' })
    expect(await errorOf(['convert', '/dev/zero', '--to', 'devflow'])).toMatchObject({ code: 'unsafe-path' })
    expect((await errorOf(['show', join(folder, 'nothing')])).message).toContain('without files')
  })

  it('a name that could paint the terminal is shown, not sent', async () => {
    const ran = await run(['show', `${folder}/\u001b[31mred\u202e`], { env })
    expectNoTrace(ran)
    expect(ran.stderr).toContain(String.raw`\x1b[31mred\u202e`)
  })
})

/** Every place of a log that a name or text can stand in, filled with what would paint, lie or hide. */
function hostileLog(): string {
  const evil = '\u001b[31m\u009b2J\u202e\u0007\u007f\r\u{e0041}'
  const base = { sessionId: 's-1', cwd: `/p${evil}`, version: evil, gitBranch: evil, isSidechain: false }
  const user = { role: 'user', content: `hi${evil}` }
  const block = { type: 'tool_use', id: evil, name: `Tool${evil}`, input: { [evil]: evil } }
  const assistant = { id: 'm', role: 'assistant', model: `m${evil}`, content: [block], stop_reason: evil }
  const usage = { input_tokens: 3, output_tokens: 4 }
  const lines = [
    { type: 'user', uuid: 'a', parentUuid: null, timestamp: '2025-01-15T09:15:32Z', message: user, ...base },
    { type: 'assistant', uuid: 'b', parentUuid: 'a', message: { ...assistant, usage }, ...base },
    { type: 'summary', summary: `Title${evil}`, leafUuid: 'b' },
    { type: `odd${evil}`, sessionId: 's-1' },
  ]
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\nbroken${evil}\n`
}

describe('a transcript that would take over the terminal', () => {
  const path = put('hostile\u009b\u202e.jsonl', hostileLog())
  // oxlint-disable-next-line no-control-regex
  const bad = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u

  it.each([
    ['show'],
    ['show', '--mode', 'full'],
    ['show', '--mode', 'summary'],
    ['show', '--as', 'md'],
    ['show', '--as', 'html'],
    ['show', '--events'],
    ['show', '--json'],
    ['show', '--session', 'nope'],
    ...['devflow', 'leslie', 'swarm'].flatMap((to) => [
      ['convert', '--to', to],
      ['convert', '--to', to, '--json'],
    ]),
  ])('%s %s %s: shown, never sent', async (command, ...flags) => {
    const cwd = temporaryFolder()
    const ran = await run([command, path, ...flags], { env, cwd })
    expect(ran.stdout + ran.stderr).not.toMatch(bad)
    expect(ran.stdout + ran.stderr).not.toBe('')
    expect(ran.code).toBe(1)
  })

  it('keeps every character in JSON', async () => {
    const { stdout } = await run(['show', path, '--json'], { env })
    expect(stdout).toContain(String.raw`hi\u001b[31m\u009b2J\u202e\u0007\u007f\r\udb40\udc41`)
    expect(JSON.parse(stdout).entries[0].blocks[0].text).toContain('\u009b2J\u202e')
  })

  it('neither from the archive', async () => {
    const evil = '\u001b[31m\u009b2J\u202e'
    const own = { HANSARD_HOME: join(temporaryFolder(), 'archive') }
    const flags = ['--title', evil, '--agent', evil, '--model', evil, '--flow', evil]
    const recorded = await run(['record', ...flags], {
      input: `{"role":"user","text":"x"}\nno${evil}\n`,
      env: own,
    })
    expect(recorded.stdout + recorded.stderr).not.toMatch(bad)
    for (const args of [
      ['list'],
      ['list', '--json'],
      ['recover', '--json'],
      ['clean', '--older-than', '0h'],
    ]) {
      const ran = await run(args, { env: own })
      expect(ran.code).toBe(0)
      expect(ran.stdout + ran.stderr).not.toMatch(bad)
    }
  })
})

describe('an archive that cannot be used', () => {
  it('a file in its place: a clear error from every command', async () => {
    const home = put('a-file', 'mine')
    for (const place of [home, join(home, 'below')]) {
      for (const args of [['list'], ['show', '0192'], ['recover'], ['clean'], ['clean', '--delete']]) {
        const error = await errorOf([...args, '--home', place])
        expect(error, args.join(' ')).toMatchObject({ code: 'not-found', hint: expect.any(String) })
      }
    }
    const ran = await run(['record', '--home', home, '--json'], {
      input: '{"role":"user","text":"x"}\n',
      env,
    })
    expect(ran.code).toBe(1)
    expect(JSON.parse(ran.stdout).failures[0]).toContain('could not be written')
    expect(fs.readFileSync(home, 'utf8')).toBe('mine')
  })

  it('a blob that is gone, or changed: what is there is shown, and the rest is told', async () => {
    const own = { HANSARD_HOME: join(temporaryFolder(), 'archive') }
    const input = `{"role":"user","text":"${'x'.repeat(100_000)}"}\n{"role":"user","text":"after"}\n`
    const id = (await run(['record'], { input, env: own })).stdout.trim()
    const blobs = join(own.HANSARD_HOME, 'blobs')
    const [shelf = ''] = fs.readdirSync(blobs)
    const [name = ''] = fs.readdirSync(join(blobs, shelf))
    for (const spoil of [fs.rmSync, (path: string) => fs.writeFileSync(path, 'y')]) {
      spoil(join(blobs, shelf, name))
      const shown = await run(['show', id], { env: own })
      expect(shown.code).toBe(1)
      expect(shown.stdout).toContain('after')
      expect(shown.stderr).toContain('missing')
      const json = await run(['show', id, '--json'], { env: own })
      expect(JSON.parse(json.stdout).damage).toMatchObject([{ kind: 'missing' }])
      const args = ['convert', id, '--to', 'journal', '--out', temporaryFolder(), '--json']
      const converted = await run(args, { env: own })
      expect(converted.code).toBe(1)
      expect(JSON.parse(converted.stdout).lost).toContainEqual({
        entry: expect.any(String),
        what: expect.stringContaining('damage (missing)'),
      })
    }
  })

  it('a session whose journal is a link: told of, not followed, and no obstacle to the others', async () => {
    const own = { HANSARD_HOME: join(temporaryFolder(), 'archive') }
    const id = (await run(['record'], { input: '{"role":"user","text":"x"}\n', env: own })).stdout.trim()
    const planted = join(own.HANSARD_HOME, 'sessions', 'zz-planted')
    fs.mkdirSync(planted)
    fs.symlinkSync(put('secret', 'not for you\n'), join(planted, 'journal-x.jsonl'))
    const listed = await run(['list'], { env: own })
    expect(listed.code).toBe(1)
    expect(listed.stdout).toContain(id)
    expect(listed.stdout).not.toContain('planted')
    expect(listed.stderr).toContain('zz-planted cannot be read')
    expect(listed.stderr).toMatch(/^1 session$/m)
    const recovered = await run(['recover'], { env: own })
    expect(recovered.code).toBe(1)
    expect(recovered.stderr).not.toContain('nothing to recover')
    expect(await errorOf(['show', 'zz-planted', '--home', own.HANSARD_HOME])).toMatchObject({
      code: 'unsafe-path',
    })
  })
})

describe('a transcript that is damaged', () => {
  it('cut off: shows what is whole, says where it breaks off, and exits 1', async () => {
    const whole = line('one') + line('two')
    const ran = await run(['show', put('cut.jsonl', whole.slice(0, -20))], { env })
    expectNoTrace(ran)
    expect(ran.stdout).toContain('👤 USER\none\n')
    expect(ran.stderr).toContain('cut.jsonl:2')
    expect(ran.code).toBe(1)
  })

  it('NULs, no UTF-8 and foreign lines between: every other record is there', async () => {
    const parts = [line('one'), '\0'.repeat(4096), '\n', line('two'), 'garbage\n', line('three')]
    const bytes = Buffer.concat([...parts.map((part) => Buffer.from(part)), Buffer.from([0xff, 0xfe, 10])])
    const ran = await run(['show', put('mixed.jsonl', bytes), '--json'], { env })
    const { entries, damage } = JSON.parse(ran.stdout)
    expect(entries.filter(({ role }: { role?: string }) => role === 'user')).toHaveLength(3)
    expect(damage.length).toBeGreaterThanOrEqual(3)
    expect(ran.code).toBe(1)
  })

  it('gzip: read as it is; cut off, read as far as it goes; a bomb, refused', async () => {
    const texts = Array.from({ length: 3000 }, (_, i) => line(`message ${i} ${(i * 7919) % 10007}`)).join('')
    const packed = gzipSync(texts)
    const good = await run(['show', put('good.jsonl.gz', packed)], { env })
    expect(good.code).toBe(0)
    expect(good.stdout).toContain('message 2999')
    const cut = await run(['show', put('cut.jsonl.gz', packed.subarray(0, packed.length - 200))], { env })
    expectNoTrace(cut)
    expect(cut.stdout).toContain('message 2000')
    expect(cut.stderr).toContain('gzip')
    expect(cut.code).toBe(1)
    const bomb = gzipSync(Buffer.concat([Buffer.from(line('first')), Buffer.alloc(80 * 1024 * 1024, 0x20)]))
    expect(await errorOf(['show', put('bomb.jsonl.gz', bomb)])).toMatchObject({
      code: 'too-large',
      message: expect.stringContaining('200 times'),
    })
  })

  it('a line of 100 MB: kept as one unknown, in a heap of 200 MB', async () => {
    const path = put('long.jsonl', line('before'))
    const piece = Buffer.alloc(10 * 1024 * 1024, 0x61)
    fs.appendFileSync(path, '{"type":"user","message":{"role":"user","content":"')
    for (let i = 0; i < 10; i += 1) fs.appendFileSync(path, piece)
    fs.appendFileSync(path, `"}}\n${line('after')}`)
    const ran = await run(['show', path], { env, heapMb: 200 })
    expectNoTrace(ran)
    expect(ran.stdout).toContain('before')
    expect(ran.stdout).toContain('after')
    expect(ran.stderr).toContain('too-large')
    expect(ran.stdout.length).toBeLessThan(10_000)
    const converted = await run(['convert', path, '--to', 'entire', '--out', temporaryFolder(), '--json'], {
      env,
      heapMb: 200,
    })
    expectNoTrace(converted)
    expect(JSON.parse(converted.stdout).written.length).toBeGreaterThan(0)
  })

  it('100,000 deep: read, shown and converted', async () => {
    const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
    const path = put('deep.jsonl', line('one') + line('two', `,"toolUseResult":${deep}`))
    for (const args of [
      ['show', path],
      ['show', path, '--json'],
      ['convert', path, '--to', 'devflow', '--out', temporaryFolder()],
    ]) {
      const ran = await run(args, { env, heapMb: 400 })
      expectNoTrace(ran)
      expect(ran.code).toBe(0)
    }
  })

  it('__proto__ as a key changes nothing and is kept', async () => {
    const path = put('proto.jsonl', line('one', ',"__proto__":{"polluted":true}'))
    const ran = await run(['show', path, '--json'], { env })
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain('"__proto__"')
    expect(JSON.parse(ran.stdout).entries[0].polluted).toBeUndefined()
  })
})

describe('wrong usage', () => {
  it.each([
    [['nope'], 'nope'],
    [['sho', 'x'], 'show'],
    [['show'], 'session'],
    [['show', 'x', '--jsno'], '--json'],
    [['show', 'x', '--as', 'pdf'], 'html'],
    [['show', 'x', '--turn', '-1'], '--turn'],
    [['convert', 'x'], '--to'],
    [['list', '--limit', 'many'], '--limit'],
    [['clean', '--older-than', 'soon'], '30d'],
  ])('%j exits 2 and names %s', async (args, named) => {
    const ran = await run(args, { env })
    expectNoTrace(ran)
    expect(ran.code).toBe(2)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toContain(named)
    expect(ran.stderr).toContain('--help')
  })

  it.each(['a..b', 'x'.repeat(300), 'id with spaces'])('%s is no session', async (id) => {
    const error = await errorOf(['show', id])
    expect(['not-found', 'session-not-found']).toContain(error.code)
  })

  it('a format is asked for only of a file: of a session of the archive it is refused, and of one beside a file not asked', async () => {
    const own = { HANSARD_HOME: join(temporaryFolder(), 'archive') }
    const recorded = await run(['record', '--json'], { input: '{"role":"user","text":"x"}\n', env: own })
    const { session } = JSON.parse(recorded.stdout)
    for (const args of [
      ['show', session],
      ['diff', session, session],
      ['convert', session, '--to', 'pi', '--out', temporaryFolder()],
    ]) {
      const { stdout, code } = await run([...args, '--format', 'codex', '--json'], { env: own })
      expect([code, JSON.parse(stdout).error.code]).toEqual([1, 'invalid-argument'])
    }
    const path = put('beside.jsonl', line('x'))
    const both = await run(['diff', path, session, '--format', 'claude-code', '--json'], { env: own })
    expect(both.code).toBe(0)
  })

  it('ids that would leave the archive are refused wherever one is taken', async () => {
    for (const id of ['../x', 'x'.repeat(300)]) {
      expect((await errorOf(['recover', id])).code).toBe('invalid-id')
    }
  })

  it('a reader that goes away is no failure', () => {
    const path = put('many.jsonl', Array.from({ length: 20_000 }, (_, i) => line(`message ${i}`)).join(''))
    const script = '"$0" "$1" show "$2" | head -n 1; echo "${PIPESTATUS[0]}"'
    const bin = process.env['HANSARD_BIN'] ?? join(import.meta.dirname, '../dist/bin/hansard.js')
    const out = execFileSync('bash', ['-c', script, process.execPath, bin, path], { encoding: 'utf8' })
    expect(out).toMatch(/USER\n0\n$/)
  })
})
