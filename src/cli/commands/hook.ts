/** `hansard hook install`, `uninstall`, `status`: the change is shown, then, when somebody has agreed, made. */
import os from 'node:os'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { defaultHome } from '../../archive/archive.ts'
import { AGENTS, findAgent, hookCommand, type AgentFolders, type Scope } from '../../capture/hooks/agents.ts'
import type { HookAgent } from '../../capture/hooks/entry.ts'
import { noteFailure, readFailures } from '../../capture/hooks/failures.ts'
import { carryOut, planInstall, planUninstall, stateOf, type Change } from '../../capture/hooks/install.ts'
import { isAtWork, waitingTickets } from '../../capture/hooks/queue.ts'
import { HansardError, messageOf } from '../../errors.ts'
import { counted } from '../../transcript/counted.ts'
import { visibleLine } from '../../replay/escape.ts'
import { lineDiff, type DiffLine } from '../../replay/line-diff.ts'
import { coloursFor } from '../colour.ts'
import { loadConfig } from '../config.ts'
import { flush, note, out, outJson } from '../print.ts'
import { stdout } from '../streams.ts'
import { toTable } from '../table.ts'

export type HookFlags = {
  readonly project?: boolean
  readonly yes?: boolean
  readonly print?: boolean
  readonly home?: string
  readonly json?: boolean
}

/** `hansard hook` alone is a question; with a name that is no agent's, a mistake. */
export function hookWithout(agent: string | undefined, command: Command): void {
  if (agent === undefined) return command.outputHelp()
  throw new HansardError(
    'invalid-argument',
    `no agent ${JSON.stringify(agent)} has hooks that are known here`,
    {
      hint: `there are ${AGENTS.map(({ id }) => id).join(', ')}`,
    },
  )
}

export async function changeHooks(
  what: 'install' | 'uninstall',
  id: HookAgent,
  flags: HookFlags,
): Promise<void> {
  const agent = findAgent(id)
  const scope: Scope = flags.project ? 'project' : 'user'
  const archive = await archiveOf(flags)
  const options = { scope, folders: folders(), archive }
  const isShared = scope === 'project' && agent.isOwnInProject !== true
  // A file that others have too names neither this machine's folders nor its archive.
  const moved = isShared ? flags.home : archive === defaultArchive() ? undefined : archive
  const program = isShared ? ['hansard'] : thisProgram()
  const plan =
    what === 'install'
      ? planInstall(agent, hookCommand(program, id, moved), options)
      : planUninstall(agent, options)
  const isDone = plan.changes.length === 0
  if (!flags.json) for (const change of plan.changes) await showChange(change)
  if (!flags.json && isDone)
    note(what === 'install' ? 'nothing to change: it is all there' : 'nothing to take out')
  const isAgreed = !flags.print && !isDone && (flags.yes === true || (await isWanted(plan.changes, flags)))
  if (isAgreed) carryOut(plan, options)
  if (flags.json) {
    return outJson({
      agent: id,
      scope,
      changes: plan.changes.map(({ file, after }) => ({
        file: file.path,
        does: after === undefined ? 'remove' : file.text === undefined ? 'create' : 'change',
        diff: toDiff(file.text, after).map(({ sign, line }) => sign + line),
      })),
      notes: plan.notes,
      written: isAgreed,
    })
  }
  for (const said of plan.notes) note(said)
  if (isAgreed) note(what === 'install' ? `${agent.title} calls us from its next session on` : 'taken out')
  else if (!isDone && !flags.print) note('nothing was changed')
}

/** Without a terminal nobody can be asked, and nothing is done unasked. */
async function isWanted(changes: readonly Change[], { json }: HookFlags): Promise<boolean> {
  if (json || !process.stdin.isTTY) {
    throw new HansardError('invalid-argument', 'nothing was changed: nobody is there to agree', {
      hint: '--yes agrees; --print only shows the change',
    })
  }
  await flush()
  const { createInterface } = await import('node:readline/promises')
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const files = counted(changes.length, 'file')
    return /^y(?:es)?$/i.test((await asked.question(`Change ${files}? [y/N] `)).trim())
  } finally {
    asked.close()
  }
}

/** Lines around a change that are shown. */
const AROUND = 3

async function showChange({ file, after }: Change): Promise<void> {
  const { paint, bold } = coloursFor(stdout)
  const does = after === undefined ? 'removed' : file.text === undefined ? 'new' : 'changed'
  await out(`${bold(visibleLine(file.path))} (${does})\n`)
  for (const { sign, line } of toDiff(file.text, after)) {
    const text = `${sign}${visibleLine(line)}`
    await out(`${sign === '+' ? paint(text, 'green') : sign === '-' ? paint(text, 'red') : text}\n`)
  }
}

function toDiff(before: string | undefined, after: string | undefined): readonly DiffLine[] {
  const lines = lineDiff(plain(before), plain(after)).filter(
    ({ sign, line }, at, all) => sign === ' ' || line !== '' || at < all.length - 1,
  )
  const isNear = (at: number): boolean =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ sign }) => sign !== ' ')
  return lines.filter((_, at) => isNear(at))
}

const plain = (text = ''): string => text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')

export async function hookStatus(flags: HookFlags): Promise<void> {
  const archive = await archiveOf(flags)
  const hooks = AGENTS.flatMap((agent) =>
    (['user', 'project'] as const).flatMap((scope) => stateOf(agent, scope, folders())),
  )
  const waiting = waitingTickets(archive)
  const failures = readFailures(archive)
  if (flags.json) return outJson({ hooks, waiting, atWork: isAtWork(archive), failures })
  const rows = hooks.map(({ agent, scope, state, file }) => [agent, scope, state, file])
  const columns = [
    { name: 'AGENT' },
    { name: 'SCOPE' },
    { name: 'STATE' },
    { name: 'WHERE', cut: 'start', least: 12 },
  ] as const
  await out(toTable(columns, rows))
  for (const { problem } of hooks) if (problem !== undefined) note(`hansard: ${problem}`)
  if (waiting > 0) note(`${counted(waiting, 'session')} to sync${isAtWork(archive) ? ', at work' : ''}`)
  const last = failures.at(-1)
  if (last !== undefined)
    note(
      `hansard: ${counted(failures.length, 'failure')}, the last at ${last.at}: ${last.agent}: ${last.problem}`,
    )
}

/** What a hook starts, away from the agent. Its settings are those of the archive's own folder. */
export async function hookWork(flags: HookFlags): Promise<void> {
  const {
    home = defaultHome(),
    keep,
    exclude,
  } = await loadConfig(flags).catch((error: unknown) => {
    // Nobody reads what is printed here: the archive is told, which the hook named.
    noteFailure(resolve(flags.home ?? defaultHome()), 'hansard', messageOf(error))
    throw error
  })
  const { work } = await import('../../capture/hooks/work.ts')
  await work(resolve(home), { ...(keep !== undefined && { keep }), ...(exclude && { exclude }) })
}

async function archiveOf({ home }: HookFlags): Promise<string> {
  const config = await loadConfig({ ...(home !== undefined && { home }) })
  return resolve(config.home ?? defaultHome())
}

const defaultArchive = (): string => resolve(os.homedir(), '.hansard')

const folders = (): AgentFolders => ({ env: process.env, home: os.homedir(), cwd: process.cwd() })

/** By its path: what starts agents may not know where programs lie. */
function thisProgram(): readonly string[] {
  const path = resolve(process.argv[1] ?? '')
  if (/[\\/]_npx[\\/]/.test(path)) {
    throw new HansardError('invalid-argument', `${path} may be gone tomorrow: npx keeps it for a while`, {
      hint: 'npm install --global hansard, then run the command again',
    })
  }
  return [process.execPath, path].map((word) =>
    process.platform === 'win32' ? word.replaceAll('\\', '/') : word,
  )
}
