import fc from 'fast-check'
import fs from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { AGENTS, findAgent, hookCommand, type AgentFolders, type Scope } from './agents.ts'
import type { HookAgent } from './entry.ts'
import { carryOut, planInstall, planUninstall, stateOf, type PlanOptions } from './install.ts'

const roots: string[] = []
afterAll(() => {
  for (const root of roots) fs.rmSync(root, { recursive: true, force: true })
})

type Place = PlanOptions & { readonly folders: AgentFolders }

function place(scope: Scope = 'user'): Place {
  const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-hooks-'))
  roots.push(root)
  const home = join(root, 'home')
  const cwd = join(root, 'project')
  for (const folder of [home, cwd]) fs.mkdirSync(folder)
  return { scope, folders: { env: {}, home, cwd }, archive: join(root, 'archive') }
}

const commandFor = (agent: HookAgent): ReturnType<typeof hookCommand> =>
  hookCommand(['/usr/bin/node', '/opt/my tools/hansard.js'], agent, '/data/ar"chive')

function install(agent: HookAgent, options: Place): number {
  const plan = planInstall(findAgent(agent), commandFor(agent), options)
  carryOut(plan, options)
  return plan.changes.length
}

function uninstall(agent: HookAgent, options: Place): number {
  const plan = planUninstall(findAgent(agent), options)
  carryOut(plan, options)
  return plan.changes.length
}

function filesOf(agent: HookAgent, { scope, folders }: Place): readonly string[] {
  return findAgent(agent).targets.flatMap((target) => target.file(scope, folders) ?? [])
}

function write(path: string, bytes: string | Buffer): void {
  fs.mkdirSync(dirname(path), { recursive: true })
  fs.writeFileSync(path, bytes)
}

const agents = AGENTS.map(({ id }) => id)
const settingsOf = (agent: HookAgent, at: Place): string => filesOf(agent, at).at(-1) ?? ''

describe.each(agents)('hooks of %s', (agent) => {
  it.each(['user', 'project'] as const)(
    'are put in where there is nothing, and taken out again: %s',
    (scope) => {
      const at = place(scope)
      expect(install(agent, at)).toBeGreaterThan(0)
      expect(stateOf(findAgent(agent), scope, at.folders).map(({ state }) => state)).not.toContain('none')
      for (const file of filesOf(agent, at).filter((path) => path.endsWith('.json')))
        expect(() => JSON.parse(fs.readFileSync(file, 'utf8')) as unknown).not.toThrow()
      expect(install(agent, at)).toBe(0)
      uninstall(agent, at)
      expect(fs.readdirSync(at.folders.home)).toEqual([])
      expect(fs.readdirSync(at.folders.cwd)).toEqual([])
      expect(uninstall(agent, at)).toBe(0)
    },
  )

  it('stand beside those of others, whatever the settings look like, and go without a trace', () => {
    fc.assert(
      fc.property(settings(agent), (text) => {
        const at = place()
        const file = settingsOf(agent, at)
        write(file, text)
        install(agent, at)
        const after = fs.readFileSync(file, 'utf8')
        expect(withoutOurs(read(after))).toEqual(withoutOurs(read(text)))
        expect(stateOf(findAgent(agent), 'user', at.folders).at(-1)?.state).toBe('installed')
        if (text.includes('\r\n')) expect(after.replaceAll('\r\n', '')).not.toContain('\n')
        expect(install(agent, at)).toBe(0)
        uninstall(agent, at)
        expect(fs.readFileSync(file, 'utf8')).toBe(text)
      }),
      { numRuns: 40 },
    )
  })

  it('go when somebody else has changed the settings since, and what they changed stays', () => {
    fc.assert(
      fc.property(settings(agent), fc.boolean(), (text, isForgotten) => {
        const at = place()
        const file = settingsOf(agent, at)
        write(file, text)
        install(agent, at)
        const value = read(fs.readFileSync(file, 'utf8')) as { [key: string]: unknown }
        // Written anew by another program.
        fs.writeFileSync(file, JSON.stringify({ ...value, added: { x: 1 } }, null, 3))
        if (isForgotten) fs.rmSync(at.archive, { recursive: true })
        uninstall(agent, at)
        const left = read(fs.readFileSync(file, 'utf8')) as { [key: string]: unknown }
        expect(left['added']).toEqual({ x: 1 })
        expect(JSON.stringify(left)).not.toContain('hansard.js')
        expect(withoutOurs({ ...left, added: 0 })).toEqual(withoutOurs({ ...value, added: 0 }))
      }),
      { numRuns: 20 },
    )
  })

  it('go where somebody has put a member before them by hand, whatever was there', () => {
    for (const text of ['{}', '{ }\n', '', '{"model":"x"}', '{\n  "hooks": {}\n}\n']) {
      const at = place()
      const file = settingsOf(agent, at)
      write(file, text)
      install(agent, at)
      fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('{', '{\n  "mine": true,'))
      uninstall(agent, at)
      const left = read(fs.readFileSync(file, 'utf8')) as { [key: string]: unknown }
      expect(left['mine']).toBe(true)
      expect(JSON.stringify(left)).not.toContain('hansard.js')
    }
  })

  it('call the program where it lies now, once it has moved', () => {
    const at = place()
    const text = '{ "model": "x" }'
    write(settingsOf(agent, at), text)
    const before = hookCommand(['/old/node', '/old/hansard'], agent)
    carryOut(planInstall(findAgent(agent), before, at), at)
    install(agent, at)
    for (const file of filesOf(agent, at)) {
      expect(fs.readFileSync(file, 'utf8')).toContain('/opt/my tools/hansard.js')
      expect(fs.readFileSync(file, 'utf8')).not.toContain('/old/')
    }
    uninstall(agent, at)
    expect(fs.readFileSync(settingsOf(agent, at), 'utf8')).toBe(text)
  })

  it('leave settings alone that cannot be read, and say why', () => {
    const at = place()
    const file = settingsOf(agent, at)
    for (const bad of [
      '{',
      '[]',
      '{"a":1,,}',
      '{"hooks":',
      'null',
      '{"hooks":[]}',
      '{"a" 1}',
      '{"a":"\n"}x',
    ]) {
      write(file, bad)
      expect(() => install(agent, at), bad).toThrow(/cannot be read/)
      expect(fs.readFileSync(file, 'utf8')).toBe(bad)
    }
    write(file, Buffer.from([0x7b, 0xff, 0x7d]))
    expect(() => install(agent, at)).toThrow(/no UTF-8/)
  })
})

describe('the file', () => {
  it('keeps its mode, and the link that leads to it', () => {
    const at = place()
    const file = settingsOf('claude-code', at)
    const real = join(at.folders.cwd, 'dotfiles.json')
    write(real, '{}\n')
    fs.chmodSync(real, 0o640)
    fs.mkdirSync(dirname(file))
    fs.symlinkSync('../../project/dotfiles.json', file)
    install('claude-code', at)
    expect(fs.lstatSync(file).isSymbolicLink()).toBe(true)
    expect(fs.statSync(real).mode & 0o777).toBe(0o640)
    expect(fs.readFileSync(real, 'utf8')).toContain('hook claude-code')
    uninstall('claude-code', at)
    expect(fs.readFileSync(real, 'utf8')).toBe('{}\n')
    expect(fs.readdirSync(dirname(real))).toEqual(['dotfiles.json'])
  })

  it('is made where a link leads to nothing yet', () => {
    const at = place()
    const file = settingsOf('cursor', at)
    fs.mkdirSync(dirname(file))
    fs.symlinkSync(join(at.folders.cwd, 'later.json'), file)
    install('cursor', at)
    expect(fs.readFileSync(join(at.folders.cwd, 'later.json'), 'utf8')).toContain('hook cursor')
  })

  it('is not written over what somebody wrote after it was read', () => {
    const at = place()
    const file = settingsOf('gemini-cli', at)
    write(file, '{}')
    const plan = planInstall(findAgent('gemini-cli'), commandFor('gemini-cli'), at)
    fs.writeFileSync(file, '{"theme":"dark"}')
    expect(() => carryOut(plan, at)).toThrow(/changed meanwhile/)
    expect(fs.readFileSync(file, 'utf8')).toBe('{"theme":"dark"}')
  })
})

describe('Codex’s config.toml', () => {
  const CONFIGS = [
    '',
    'model = "x"',
    '# mine\nmodel = "gpt"  # yes\n\n[features]\nhooks = true\n',
    '[a]\nb = 1\n',
    '\uFEFFmodel = "x"\r\n\r\n[tui]\r\nnotify = ["x"]\r\n',
    'list = [\n  "a", # [not a table]\n  "b",\n]\ntext = """\nnotify = 1\n[x]\n"""\n[[servers]]\nx = { a = [1, 2], b.c = 2024-01-01 07:00:00 }\n',
    `k."q r" = 1e5\nz = 'a'`,
  ]

  it.each(CONFIGS)('is one line longer, and then as it was: %j', (text) => {
    const at = place()
    const [file = ''] = filesOf('codex', at)
    write(file, text)
    install('codex', at)
    const after = fs.readFileSync(file, 'utf8')
    expect(after).toContain(
      'notify = ["/usr/bin/node", "/opt/my tools/hansard.js", "hook", "codex", "--home", "/data/ar\\"chive"]',
    )
    expect(after.split('\n').filter((line) => !text.includes(line.trimEnd()))).toHaveLength(1)
    expect(install('codex', at)).toBe(0)
    uninstall('codex', at)
    expect(fs.readFileSync(file, 'utf8')).toBe(text)
  })

  it('keeps a notify that is another’s, and gets hooks beside it', () => {
    const at = place()
    const [file = '', hooks = ''] = filesOf('codex', at)
    const text = 'notify = ["terminal-notifier"]\n'
    write(file, text)
    const plan = planInstall(findAgent('codex'), commandFor('codex'), at)
    expect(plan.notes.join()).toContain('notify of its own')
    carryOut(plan, at)
    expect(fs.readFileSync(file, 'utf8')).toBe(text)
    expect(fs.readFileSync(hooks, 'utf8')).toContain('hook codex')
  })

  it('has no hooks.json beside hooks of its own', () => {
    const at = place()
    const [file = '', hooks = ''] = filesOf('codex', at)
    write(file, '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"\n')
    install('codex', at)
    expect(fs.existsSync(hooks)).toBe(false)
    expect(fs.readFileSync(file, 'utf8')).toMatch(/^notify = /)
  })

  it.each(['x', 'a = ', 'a = "b', '[a', 'a = [1', 'a = 1 b', '= 1', 'a = """x'])(
    'is left alone when it is none: %j',
    (bad) => {
      const at = place()
      const [file = ''] = filesOf('codex', at)
      write(file, bad)
      expect(() => install('codex', at)).toThrow(/cannot be read/)
      expect(fs.readFileSync(file, 'utf8')).toBe(bad)
    },
  )
})

/** Settings as people and programs write them. */
function settings(agent: HookAgent): fc.Arbitrary<string> {
  const target = findAgent(agent).targets.find(({ kind }) => kind === 'json')
  const events = target?.kind === 'json' ? target.events : []
  const comments = target?.kind === 'json' && target.comments
  const other = fc.oneof(
    fc.constant({ hooks: [{ type: 'command', command: 'echo hansard hooks' }] }),
    fc.constant({ command: './mine.sh' }),
    fc.constant({ matcher: '*', hooks: [] }),
  )
  const hooks = fc.dictionary(fc.constantFrom(...events, 'PreToolUse'), fc.array(other, { maxLength: 2 }))
  const value = fc.record(
    {
      model: fc.string({ unit: 'grapheme' }),
      permissions: fc.jsonValue({ maxDepth: 2 }),
      hooks,
      version: fc.constant(1),
    },
    { requiredKeys: [] },
  )
  const indent = fc.constantFrom(0, 2, 4, '\t', ' ')
  return fc
    .record({
      value,
      indent,
      isWindows: fc.boolean(),
      mark: fc.boolean(),
      end: fc.constantFrom('', '\n', '\n\n', '  '),
      isCommented: fc.boolean(),
    })
    .map(({ value, indent, isWindows, mark, end, isCommented }) => {
      let text = JSON.stringify(value, null, indent) + end
      if (comments && isCommented && indent !== 0)
        text = `// mine\n${text.replace(/\n(\s*)\}/g, '\n$1  // last, of all\n$1}').replace(/^\{\n/, '{ /* first */\n')}`
      if (comments && isCommented && indent === 4)
        text = text
          .replaceAll(/([\w"\]}])\n/g, '$1,\n')
          .replace(/,(\s*)$/, '$1')
          .replaceAll(/all,\n/g, 'all\n')
          .replaceAll(/mine,\n/g, 'mine\n')
      if (isWindows) text = text.replaceAll('\n', '\r\n')
      return (mark ? '\uFEFF' : '') + text
    })
}

/** As the agent would read it; comments are only ever written on lines of their own, or as the first thing. */
function read(text: string): unknown {
  const plain = text
    .replace(/^\uFEFF/, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replace('/* first */', '')
    // A comma within a text is no comma before the end of a list.
    .replaceAll(/("(?:[^"\\]|\\.)*")|,(\s*[}\]])/g, '$1$2')
  return JSON.parse(plain.trim() === '' ? '{}' : plain) as unknown
}

/** What others have said, without lists that nothing is in and what a file must say. */
function withoutOurs(value: unknown): unknown {
  const { hooks = {}, version: _, ...others } = value as { [key: string]: unknown }
  const left = Object.entries(hooks as { [event: string]: unknown[] })
    .map(
      ([event, list]) => [event, list.filter((one) => !JSON.stringify(one).includes('hansard.js'))] as const,
    )
    .filter(([, list]) => list.length > 0)
  return { ...others, hooks: Object.fromEntries(left) }
}
