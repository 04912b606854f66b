/** Attacks by git repositories that a sync meets: settings that name programs, pipes where git reads, folders that a transcript names. */
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'
import type { Attack } from './attack.ts'
import { tryEach } from './attack.ts'
import { addCommits, createRepository } from './git-repository.ts'
import { claudeLogs, createMachine, type Machine } from './machine.ts'

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const OTHER = 'bbbbbbbb-0000-4000-8000-000000000002'
const FULL = 'ab/cdef012345/0/full.jsonl'

/** A repository with one checkpoint, in a folder of a machine. */
function createCheckpoint(machine: Machine, name: string): string {
  const folder = join(machine.base, name)
  const metadata = { checkpoint_id: 'abcdef012345', session_id: SESSION, agent: 'Claude Code' }
  createRepository([], folder)
  addCommits(folder, [
    {
      ref: 'refs/heads/entire/checkpoints/v1',
      files: {
        [FULL]: claudeLogs(2, { session: SESSION }),
        'ab/cdef012345/0/metadata.json': JSON.stringify(metadata),
      },
    },
  ])
  // As loose objects: one of them can be taken out.
  const packs = join(folder, '.git/objects/pack')
  for (const pack of fs.readdirSync(packs).filter((file) => file.endsWith('.pack'))) {
    fs.renameSync(join(packs, pack), join(folder, pack))
    execFileSync('git', ['-C', folder, 'unpack-objects', '-q'], {
      input: fs.readFileSync(join(folder, pack)),
    })
  }
  return folder
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()

function objectOf(folder: string): string {
  const id = git(folder, 'rev-parse', `refs/heads/entire/checkpoints/v1:${FULL}`)
  return join(folder, '.git/objects', id.slice(0, 2), id.slice(2))
}

/** A machine for as long as the work takes. */
async function onMachine<T>(work: (machine: Machine) => Promise<T>): Promise<T> {
  const machine = createMachine()
  try {
    return await work(machine)
  } finally {
    fs.rmSync(machine.base, { recursive: true, force: true })
  }
}

/** Git behind a wrapper: `prepare` are lines of a shell before it runs. */
async function withGit<T>(machine: Machine, prepare: string, work: () => Promise<T>): Promise<T> {
  const [folder, real] = [
    join(machine.base, 'bin'),
    execFileSync('sh', ['-c', 'command -v git']).toString().trim(),
  ]
  fs.mkdirSync(folder)
  fs.writeFileSync(join(folder, 'git'), `#!/bin/sh\n${prepare}\nexec '${real}' "$@"\n`, { mode: 0o755 })
  const { PATH } = process.env
  process.env['PATH'] = `${folder}:${PATH ?? ''}`
  try {
    return await work()
  } finally {
    process.env['PATH'] = PATH
  }
}

type Setting = readonly [key: string, value: string]
const PROMISOR: readonly Setting[] = [
  ['core.repositoryformatversion', '1'],
  ['extensions.partialClone', 'origin'],
  ['remote.origin.promisor', 'true'],
]
const alias = (name: string): Setting => [`alias.${name}`, '!touch MARK; exit 1']

const PROGRAMS: Readonly<Record<string, readonly Setting[]>> = {
  'none:: and an alias': [...PROMISOR, ['remote.origin.url', 'none::x'], alias('remote-none')],
  ':: and an alias': [...PROMISOR, ['remote.origin.url', '::x'], alias('remote-')],
  'x:: and an alias': [
    ...PROMISOR,
    ['remote.origin.url', 'x::x'],
    ['protocol.x.allow', 'always'],
    alias('remote-x'),
  ],
  'vcs and an alias': [
    ...PROMISOR,
    ['remote.origin.vcs', 'none'],
    ['remote.origin.url', 'x'],
    alias('remote-none'),
  ],
  'ext::': [...PROMISOR, ['remote.origin.url', 'ext::touch MARK'], ['protocol.ext.allow', 'always']],
  ssh: [...PROMISOR, ['remote.origin.url', 'ssh://h/x'], ['core.sshCommand', 'touch MARK;']],
  'a file, and its program': [
    ...PROMISOR,
    ['remote.origin.url', '.'],
    ['remote.origin.uploadpack', 'touch MARK;'],
  ],
  insteadOf: [
    ...PROMISOR,
    ['remote.origin.url', 'q:x'],
    ['url.none::.insteadOf', 'q:'],
    alias('remote-none'),
  ],
  'monitor, pager, editor, hooks': [
    ['core.fsmonitor', 'touch MARK'],
    ['core.pager', 'touch MARK'],
    ['core.editor', 'touch MARK'],
    ['core.alternateRefsCommand', 'touch MARK'],
    ['diff.external', 'touch MARK'],
    ['credential.helper', '!touch MARK'],
  ],
  'aliases of what is asked': [
    alias('for-each-ref'),
    alias('cat-file'),
    alias('ls-tree'),
    alias('rev-parse'),
  ],
}

export const programsOfRepositories: Attack = {
  name: 'git: no program of a repository runs',
  prove: () =>
    tryEach(Object.keys(PROGRAMS), (name) =>
      onMachine(async (machine) => {
        const folder = createCheckpoint(machine, 'cwd')
        const mark = join(machine.base, 'mark')
        for (const [key, value] of PROGRAMS[name] ?? [])
          git(folder, 'config', key, value.replace('MARK', mark))
        fs.rmSync(objectOf(folder))
        // As a git that does not know the variable: before 2.45.
        await withGit(machine, 'unset GIT_NO_LAZY_FETCH', () => machine.sync())
        return fs.existsSync(mark) ? 'ran' : undefined
      }),
    ),
}

export const repositoriesOfOthers: Attack = {
  name: "git: another user's repository is not read",
  prove: () =>
    tryEach(['cwd', 'named'], (how) =>
      onMachine(async (machine) => {
        const folder = createCheckpoint(machine, 'cwd')
        const paths = how === 'named' ? { paths: [folder] } : {}
        const report = await withGit(machine, 'export GIT_TEST_ASSUME_DIFFERENT_OWNER=1', () =>
          machine.sync(paths),
        )
        const said = report.problems.map(({ cause }) => cause).join()
        return report.sessions > 0 || said !== 'owner'
          ? `${report.sessions} sessions, said: ${said}`
          : undefined
      }),
    ),
}

/** `path` is below `.git`. */
const STUCK: Readonly<Record<string, { readonly path: string; readonly device?: string }>> = {
  'packed-refs': { path: 'packed-refs' },
  'packed-refs without an end': { path: 'packed-refs', device: '/dev/zero' },
  HEAD: { path: 'HEAD' },
  'HEAD without an end': { path: 'HEAD', device: '/dev/zero' },
  config: { path: 'config' },
  'an included file': { path: 'included' },
  'an included file of an included file': { path: 'deeper' },
  commondir: { path: 'commondir' },
  'a ref': { path: 'refs/heads/entire/checkpoints/v2' },
  alternates: { path: 'objects/info/alternates' },
  'an alternate object': { path: 'alternate' },
  'an object': { path: 'object' },
  shallow: { path: 'shallow' },
}

export const pipesInRepositories: Attack = {
  name: 'git: pipes and devices stop no sync',
  prove: () =>
    tryEach(Object.keys(STUCK), (name) =>
      onMachine(async (machine) => {
        const folder = createCheckpoint(machine, 'cwd')
        const { path = '', device } = STUCK[name] ?? {}
        const below = (inside: string): string => join(folder, '.git', inside)
        const object = objectOf(folder)
        let at = below(path)
        if (path === 'object') at = object
        if (path === 'included') git(folder, 'config', 'include.path', 'included')
        if (path === 'deeper') {
          git(folder, 'config', 'includeIf.gitdir:/.path', below('first'))
          fs.writeFileSync(below('first'), '[include] path = "deeper"\n')
        }
        if (path === 'alternate') {
          at = join(machine.base, 'store', object.slice(below('objects').length))
          fs.writeFileSync(below('objects/info/alternates'), `${join(machine.base, 'store')}\n`)
          fs.rmSync(object)
        }
        fs.rmSync(at, { force: true })
        fs.mkdirSync(join(at, '..'), { recursive: true })
        if (device === undefined) execFileSync('mkfifo', [at])
        else fs.symlinkSync(device, at)
        machine.write(machine.log(OTHER), claudeLogs(2, { session: OTHER }))
        const { sessions } = await machine.sync()
        return sessions < 1 ? 'the rest was not taken in' : undefined
      }),
    ),
}

const LEADS: readonly string[] = ['a file that was named', 'a log in a project', "an agent's own log"]

export const foldersOfTranscripts: Attack = {
  name: 'sync: foreign transcripts name no folder',
  prove: () =>
    tryEach(
      LEADS.flatMap((lead) => ['checkpoints', 'a log'].map((there) => ({ lead, there }))),
      ({ lead, there }) =>
        onMachine(async (machine) => {
          const victim = join(machine.base, 'victim')
          if (there === 'checkpoints') createCheckpoint(machine, 'victim')
          else putLog(join(victim, '.entire/metadata', SESSION, 'full.jsonl'), SESSION, '/x')
          const log = join(machine.base, 'given/log.jsonl')
          if (lead === LEADS[0]) putLog(log, OTHER, victim)
          else if (lead === LEADS[1])
            putLog(join(machine.cwd, '.entire/metadata', OTHER, 'full.jsonl'), OTHER, victim)
          else putLog(machine.log(OTHER), OTHER, victim)
          if (lead === LEADS[0]) await machine.sync({ paths: [log] })
          for (let time = 0; time < 2; time += 1) await machine.sync()
          const found = (await machine.list()).length
          // The agent's own log, below the user's folder, is why projects are found at all.
          return found === (lead === LEADS[2] ? 2 : 1) ? undefined : `${found} sessions`
        }),
    ),
}

function putLog(path: string, session: string, cwd: string): void {
  fs.mkdirSync(join(path, '..'), { recursive: true })
  fs.writeFileSync(path, claudeLogs(2, { session, cwd }))
}
