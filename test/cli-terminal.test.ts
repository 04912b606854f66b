/** What people see on a terminal, on one made by script(1), and that none of it is in a pipe. */
import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { widthOf } from '../src/cli/width.ts'
import { BIN, run, temporaryFolder } from './program.ts'

const folder = temporaryFolder()
const env = { HANSARD_HOME: join(folder, 'archive'), HOME: folder }
const TITLE = '日本語の題名 with a title 🎉 that is far too long for any terminal that people have'

/** Debian's essential bsdutils has it, with these flags; where it has others, what does not need a terminal is tested below. */
const hasScript = spawnSync('script', ['-qec', 'exit 3', '/dev/null']).status === 3

type Terminal = {
  readonly columns?: number
  readonly env?: Readonly<Record<string, string>>
  /** Without standard error. */
  readonly isQuiet?: boolean
}

/** What a terminal so wide is sent by a command. */
function onTerminal(
  args: readonly string[],
  { columns = 80, env: more = {}, isQuiet = false }: Terminal = {},
): string {
  const typed = ['node', BIN, ...args].map((word) => `'${word}'`).join(' ')
  const { stdout } = spawnSync(
    'script',
    ['-qec', `stty cols ${columns}; ${typed}${isQuiet ? ' 2>/dev/null' : ''}`, '/dev/null'],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', TZ: 'UTC', TERM: 'xterm', ...env, ...more },
      encoding: 'utf8',
    },
  )
  return stdout.replaceAll('\r\n', '\n')
}

beforeAll(async () => {
  for (const [title, ending] of [
    [TITLE, 'completed'],
    ['\u001b[2Jscreen \u202ewiped', 'failed'],
  ] as const) {
    const input = `{"role":"user","text":"hello"}\n{"role":"assistant","text":"hi","model":"claude-sonnet-4-5","usage":{"input":1200,"output":40}}\n{"type":"end","status":"${ending}"}\n`
    expect((await run(['record', '--title', title], { input, env, cwd: folder })).code).toBe(0)
  }
})

/** 30 MB in 150 files: more than is done at once. */
function writeLogs(): string {
  const logs = join(folder, 'logs')
  if (fs.existsSync(logs)) return logs
  fs.mkdirSync(join(logs, 'projects/p'), { recursive: true })
  const common = { cwd: '/p', version: '2.0.0', userType: 'external', isSidechain: false, parentUuid: null }
  for (let file = 0; file < 150; file += 1) {
    const lines = Array.from({ length: 100 }, (_, at) => ({
      type: 'user',
      message: { role: 'user', content: 'x'.repeat(2000) },
      uuid: `u${file}-${at}`,
      sessionId: `s-${file}`,
      timestamp: '2025-01-15T09:15:32.000Z',
      ...common,
    }))
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    fs.writeFileSync(join(logs, 'projects/p', `${file}.jsonl`), text)
  }
  return logs
}

const TABLES = [
  ['list'],
  ['cost'],
  ['cost', '--by', 'session'],
  ['cost', 'prices'],
  ['formats'],
  ['clean', '--older-than', '0h'],
]
const COMMANDS = [...TABLES, ['list', '--runs'], ['doctor']]

if (hasScript) {
  describe('on a terminal', () => {
    it.each([40, 80, 132])('of %d columns every command has a table, and none that is wider', (columns) => {
      for (const args of TABLES) {
        const lines = stripVTControlCharacters(onTerminal(args, { columns, isQuiet: true })).split('\n')
        const table = lines.slice(lines.findIndex((line) => /^[A-Z]+(?:  |$)/.test(line)))
        expect(table.length).toBeGreaterThan(2)
        for (const line of table) expect(widthOf(line)).toBeLessThanOrEqual(columns)
      }
    })

    it('a status has its colour, and foreign escape sequences are shown, not sent', () => {
      const shown = onTerminal(['list'], { columns: 200 })
      expect(shown).toContain('\u001b[32mcompleted\u001b[39m')
      expect(shown).toContain('\u001b[31mfailed\u001b[39m')
      expect(shown).not.toContain('\u001b[2J')
      expect(shown).not.toContain('\u202e')
    })

    it.each([
      ['NO_COLOR', ['list'], { NO_COLOR: '1' }],
      ['--no-color', ['list', '--no-color'], {}],
      ['--no-color before the command', ['--no-color', 'list'], {}],
      ['TERM=dumb', ['list'], { TERM: 'dumb' }],
    ])('%s declines colours, and widths stay', (_, args, more) => {
      const shown = onTerminal(args, { columns: 60, env: more })
      expect(shown).not.toContain('\u001b')
      expect(shown).toContain('completed')
      expect(shown).toContain('…')
    })

    it('help has headings that stand out, unless declined', () => {
      expect(onTerminal(['--help'])).toContain('\u001b[1mUsage:\u001b[22m')
      expect(onTerminal(['list', '--help', '--no-color'])).not.toContain('\u001b')
    })

    it('errors stand out', () => {
      expect(onTerminal(['show', 'nothing-here'])).toContain(
        '\u001b[31m\u001b[1mhansard: \u001b[22m\u001b[39m',
      )
    })

    it('a sync that takes a while says how far it is, and leaves nothing behind', () => {
      const sent = onTerminal(['sync', writeLogs()])
      expect(sent).toMatch(/(?:keeping|reading): [\d,]+ of 150 files, [\d.]+ [kM]?B of \d+ MB/)
      expect(sent).toContain('150 files: 150 new')
      expect(sent.slice(sent.lastIndexOf('\r\u001b[K'))).not.toContain(' of 150 files')
    })

    it('Ctrl-C ends it at once, as a signal does, and takes the line away', async () => {
      const child = spawn('script', ['-qec', `exec node '${BIN}' sync '${writeLogs()}'`, '/dev/null'], {
        env: {
          PATH: process.env['PATH'] ?? '',
          TERM: 'xterm',
          HOME: folder,
          HANSARD_HOME: join(folder, 'other'),
        },
      })
      let sent = ''
      let typed = false
      child.stdout.on('data', (chunk: Buffer) => {
        sent += chunk.toString()
        if (typed || !sent.includes(' of 150 files')) return
        typed = true
        child.stdin.write('\u0003')
      })
      const code = await new Promise((done) => child.on('close', done))
      expect({ typed, code }).toEqual({ typed: true, code: 130 })
      expect(sent).not.toContain('taken in')
      expect(sent.trimEnd().endsWith('\u001b[K')).toBe(true)
    })
  })
}

describe('in a pipe', () => {
  it('there are no colours, no progress and no cuts', async () => {
    const { stdout } = await run(['list'], { env: { ...env, COLUMNS: '40' } })
    expect(stdout).toContain('日本語の題名 with a title 🎉')
    for (const args of COMMANDS) {
      const { stdout: data, stderr } = await run(args, { env, cwd: folder })
      expect(data + stderr).not.toContain('\u001b')
      expect(data).not.toContain('no room for')
    }
  })

  it('FORCE_COLOR asks for colours all the same', async () => {
    const { stdout } = await run(['list'], { env: { ...env, FORCE_COLOR: '1' } })
    expect(stdout).toContain('\u001b[32mcompleted\u001b[39m')
  })
})
