import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isHansardError } from '../errors.ts'
import { codex } from '../formats/codex.ts'
import type { Format, Place } from '../formats/format.ts'
import { geminiCli } from '../formats/gemini-cli.ts'
import { grok } from '../formats/grok.ts'
import { iflow } from '../formats/iflow.ts'
import { kimi } from '../formats/kimi.ts'
import { pi } from '../formats/pi.ts'
import { qwen } from '../formats/qwen.ts'
import { withClosed } from '../../test/unprivileged.ts'
import { allFormats } from './formats.ts'
import { placesOf } from './place-of.ts'
import { expandTemplate } from './place-templates.ts'
import { findPlaces, type PlaceOptions } from './places.ts'
import { IMPORT } from './unit-place.ts'
import { walk } from './walk.ts'

let home: string
beforeEach(() => {
  home = fs.realpathSync(fs.mkdtempSync(join(os.tmpdir(), 'hansard-places-')))
  fs.chmodSync(home, 0o755)
})
afterEach(() => fs.rmSync(home, { recursive: true, force: true }))

const folder = (path: string): string => {
  fs.mkdirSync(join(home, path), { recursive: true })
  return join(home, path)
}
const put = (path: string, text: string): string => {
  folder(dirname(path))
  fs.writeFileSync(join(home, path), text)
  return join(home, path)
}
const withPlaces = (...places: readonly Place[]): Format => ({ ...pi, id: 'made-up', places })
const find = (formats: readonly Format[], options: Partial<PlaceOptions> = {}) =>
  findPlaces(formats, { env: {}, home, platform: 'linux', folders: [], ...options })

describe('a template', () => {
  const expand = (template: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux') =>
    expandTemplate(template, { env, home: '/home/u', platform })

  it.each<[string, NodeJS.ProcessEnv, readonly string[]]>([
    ['~/.pi/agent', {}, ['/home/u/.pi/agent']],
    ['${CODEX_HOME:-~/.codex}/sessions', {}, ['/home/u/.codex/sessions']],
    ['${CODEX_HOME:-~/.codex}/sessions', { CODEX_HOME: '/c' }, ['/c/sessions']],
    ['${CODEX_HOME:-~/.codex}/sessions', { CODEX_HOME: '' }, ['/home/u/.codex/sessions']],
    ['${CODEX_HOME}/sessions', {}, []],
    ['${A:-${XDG_CONFIG_HOME:-~/.config}/claude}/projects', {}, ['/home/u/.config/claude/projects']],
    [
      '${A:-${XDG_CONFIG_HOME:-~/.config}/claude}/projects',
      { XDG_CONFIG_HOME: '/x' },
      ['/x/claude/projects'],
    ],
    ['${A:-${XDG_CONFIG_HOME:-~/.config}/claude}/projects', { A: '~/a' }, ['/home/u/a/projects']],
    ['${A}/p', { A: '/a, /b' }, ['/a, /b/p', '/a/p', '/b/p']],
    ['${A:-${B}}/p', {}, []],
    ['./.devflow', {}, ['./.devflow']],
  ])('%s with %o is %o', (template, env, expected) => {
    expect(expand(template, env)).toEqual(expected)
  })

  it('finds Windows’ variables whatever their case', () => {
    expect(expand('${APPDATA}/Code', { AppData: 'C:\\Users\\u\\AppData' }, 'win32')).toEqual([
      'C:\\Users\\u\\AppData/Code',
    ])
    expect(expand('${APPDATA}/Code', { AppData: 'C:\\x' }, 'linux')).toEqual([])
  })
})

describe('the places that are found', () => {
  it('leave apart a folder of which only files in itself count, and only where they are there', () => {
    const format = withPlaces(
      { folders: ['~/flat/logs'], files: ['**/*.jsonl'] },
      { folders: ['~/flat'], files: ['index.jsonl'] },
    )
    const logs = folder('flat/logs')
    expect(find([format]).map(({ root }) => root)).toEqual([logs])
    put('flat/index.jsonl', '{}')
    expect(find([format]).map(({ root, files }) => [root, files])).toEqual([
      [dirname(logs), ['index.jsonl']],
      [logs, ['**/*.jsonl']],
    ])
  })

  it('are those that are there, of the formats that have any', () => {
    const sessions = folder('.codex/sessions')
    put('.pi/agent/sessions', 'a file, not a folder')
    const chats = folder('elsewhere/.gemini/tmp')
    const env = { GEMINI_CLI_HOME: join(home, 'elsewhere') }
    expect(find([codex, pi, geminiCli], { env }).map(({ agent, root }) => [agent, root])).toEqual([
      ['codex', sessions],
      ['gemini-cli', chats],
    ])
  })

  it.each([
    [qwen, '.qwen', 'projects/p/chats/s.jsonl'],
    [qwen, '.qwen', 'tmp/x/chats/s.jsonl'],
    [kimi, '.kimi-code/sessions', 'wd_p/session_1/agents/main/wire.jsonl'],
    [kimi, '.kimi-code/sessions', 'wd_p/session_1/state.json'],
    [kimi, '.kimi/sessions', 'hash/id/wire.jsonl'],
    [iflow, '.iflow/projects', 'p/session-1.jsonl'],
    [grok, '.grok/sessions', 'p/uuid/chat_history.jsonl'],
    [pi, '.openclaw/agents', 'main/sessions/s.jsonl'],
  ] as const)('hold what an agent writes: %#', (format, root, file) => {
    put(`${root}/${file}`, 'x')
    put(`${root}/settings.json`, 'x')
    const found = find([format]).find((place) => place.root === fs.realpathSync(join(home, root)))
    expect([...walk(join(home, root), { files: found?.files ?? [] })].map(({ path }) => path)).toEqual([file])
  })

  it('come once, however many names lead to them', () => {
    const real = folder('real/sessions')
    fs.symlinkSync(join(home, 'real'), join(home, 'link'))
    const format = withPlaces({
      folders: ['~/link/sessions', '~/real/sessions', '${L}'],
      files: ['**/*.jsonl'],
    })
    expect(find([format], { env: { L: `${real},${real}/` } }).map(({ root }) => root)).toEqual([real])
  })

  it('hold those inside them, with what these ask for', () => {
    const outer = folder('logs')
    folder('logs/in[ner]')
    const format = withPlaces(
      { folders: ['~/logs'], files: ['**/*.jsonl'] },
      { folders: ['~/logs/in[ner]'], files: ['**/*.jsonl', '*.db'], rows: [{ table: 't' }] },
    )
    put('logs/in[ner]/x.db', 'x')
    put('logs/in[ner]/y.jsonl', 'x')
    const [place, ...others] = find([format])
    expect(others).toEqual([])
    expect(place).toMatchObject({ root: outer, rows: [{ table: 't' }] })
    expect([...walk(outer, { files: place?.files ?? [] })].map(({ path }) => path)).toEqual([
      'in[ner]/x.db',
      'in[ner]/y.jsonl',
    ])
  })

  it('lie in every working directory that is known', () => {
    const format = withPlaces({ folders: ['./.devflow'], files: ['**'] })
    const roots = [folder('a/.devflow'), folder('b/.devflow')]
    folder('c')
    const folders = ['a', 'b', 'c', 'gone', 'a'].map((name) => join(home, name))
    expect(find([format], { folders }).map(({ root }) => root)).toEqual(roots)
  })

  it('leave out what may not be looked at, and say so', () => {
    folder('closed/.codex/sessions')
    const problems: string[] = []
    const env = { CODEX_HOME: join(home, 'closed/.codex') }
    withClosed(join(home, 'closed'), () =>
      expect(find([codex], { env, onProblem: (_, { cause }) => problems.push(cause) })).toEqual([]),
    )
    expect(problems).toContain('not-permitted')
  })
})

describe('what the user names', () => {
  const named = (path: string, formats = allFormats) =>
    placesOf(path, formats, { env: {}, home, platform: 'linux' })
  const ROLLOUT = `${JSON.stringify({ timestamp: '2026-01-01T00:00:00Z', type: 'session_meta', payload: { id: 'x' } })}\n`

  it('inside a known place is that place, narrowed', async () => {
    const file = put('.codex/sessions/2026/01/01/rollout-a.jsonl', ROLLOUT)
    put('.codex/sessions/2026/02/01/rollout-b.jsonl', ROLLOUT)
    const root = join(home, '.codex/sessions')
    expect(await named(file)).toMatchObject([{ agent: 'codex', root, files: ['2026/01/01/rollout-a.jsonl'] }])
    const [place] = await named(join(root, '2026/01'))
    expect(place).toMatchObject({ agent: 'codex', root })
    expect([...walk(root, { files: place?.files ?? [] })].map(({ path }) => path)).toEqual([
      '2026/01/01/rollout-a.jsonl',
    ])
    expect(await named(root)).toMatchObject([{ root, files: ['**/*.jsonl', '**/*.jsonl.zst'] }])
  })

  it('around known places is those places', async () => {
    folder('.codex/sessions')
    folder('.codex/archived_sessions')
    expect((await named(join(home, '.codex'))).map(({ root }) => root)).toEqual(
      ['archived_sessions', 'sessions'].map((name) => join(home, '.codex', name)),
    )
  })

  it('inside a project’s place is known by the folder above', async () => {
    const format = withPlaces({ folders: ['./.devflow'], files: ['runs/**'] })
    put('project/.devflow/runs/r/x.json', '{}')
    const [place] = await named(join(home, 'project/.devflow/runs/r'), [format])
    expect(place).toMatchObject({
      agent: 'made-up',
      root: join(home, 'project/.devflow'),
      files: ['runs/r/**/*', 'runs/r/*', 'runs/r'],
    })
    expect(await named(join(home, 'project'), [format])).toMatchObject([
      { root: join(home, 'project/.devflow') },
    ])
  })

  it('elsewhere is told by its content', async () => {
    put('copy/2026/rollout-a.jsonl', ROLLOUT)
    expect(await named(join(home, 'copy'))).toMatchObject([
      { agent: 'codex', root: join(home, 'copy'), files: ['**/*.jsonl', '**/*.jsonl.zst'] },
    ])
    expect(await named(join(home, 'copy/2026/rollout-a.jsonl'))).toMatchObject([
      { agent: 'codex', root: join(home, 'copy/2026'), files: ['rollout-a.jsonl'] },
    ])
  })

  it('that is nobody’s, or several’s, is an import of all of it', async () => {
    put('mixed/a.jsonl', ROLLOUT)
    put(
      'mixed/b.jsonl',
      `${JSON.stringify({ type: 'session', version: 3, id: 'x', timestamp: 't', cwd: '/' })}\n`,
    )
    expect(await named(join(home, 'mixed'))).toMatchObject([{ agent: IMPORT, files: ['**'] }])
    put('none/x.txt', 'hello')
    expect(await named(join(home, 'none'))).toMatchObject([{ agent: IMPORT, files: ['**'] }])
    put('none/a*b.txt', 'hello')
    expect(await placesOf(join(home, 'none/a*b.txt'), allFormats)).toMatchObject([{ files: ['a[*]b.txt'] }])
  })

  it('and is not there is an error', async () => {
    const error: unknown = await named(join(home, 'no')).catch((error: unknown) => error)
    expect(isHansardError(error) && error.code).toBe('not-found')
  })
})
