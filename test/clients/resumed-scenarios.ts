/**
 * Clients go on with sessions that Hansard wrote: their own, written back after the log was deleted, and one of another agent's.
 * The provider answers only a request that holds what was said before.
 */
import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { askClaude } from './claude-scenarios.ts'
import { askCodex } from './codex-scenarios.ts'
import type { Plays } from './play.ts'
import type { ClientName } from './programs.ts'
import type { Scenario, World } from './scenario.ts'

const SAID = 'The harbour opens at nine.'
const PLAYS: Plays = { said: [{ say: SAID }], resumed: [{ say: 'So it does.', hears: SAID }] }
const GO_ON = 'When does it open? play:resumed'
const PROMPT = 'Look at the harbour. play:said'

export const resumedScenarios: readonly Scenario[] = [
  {
    name: 'its own log deleted, written back by Hansard, resumed',
    client: 'claude-code',
    plays: PLAYS,
    calls: 2,
    sessions: 1,
    toolCalls: 0,
    run: async (world) => {
      const session = await askClaude(world, PROMPT)
      await writeBack(world, 'claude-code', session)
      await askClaude(world, GO_ON, '--resume', session)
    },
  },
  {
    name: 'a session of Codex, written by Hansard, resumed',
    client: 'claude-code',
    plays: PLAYS,
    calls: 1,
    sessions: 1,
    toolCalls: 1,
    run: async (world) =>
      void (await askClaude(world, GO_ON, '--resume', await bringOver(world, 'claude-code', rollout))),
  },
  {
    name: 'its own log deleted, written back by Hansard, resumed',
    client: 'codex',
    plays: PLAYS,
    calls: 2,
    sessions: 1,
    toolCalls: 0,
    run: async (world) => {
      const thread = await askCodex(world, [PROMPT])
      await writeBack(world, 'codex', thread)
      await askCodex(world, ['resume', thread, GO_ON])
    },
  },
  {
    name: 'a session of Claude Code, written by Hansard, resumed',
    client: 'codex',
    plays: PLAYS,
    calls: 1,
    sessions: 1,
    toolCalls: 1,
    run: async (world) =>
      void (await askCodex(world, ['resume', await bringOver(world, 'codex', claudeLog), GO_ON])),
  },
]

/** Synced, deleted, and put back as Hansard writes it: the next sync meets a file that was rewritten. */
async function writeBack(world: World, format: ClientName, session: string): Promise<void> {
  await must(world, ['sync'])
  const log = findLog(world.home, session)
  const out = join(world.home, '..', 'written')
  await must(world, ['convert', log, '--to', format, '--out', out])
  rmSync(log)
  cpSync(out, world.home, { recursive: true })
}

/** Another agent's session among the client's own; its id there. */
async function bringOver(
  world: World,
  format: ClientName,
  lines: (cwd: string) => readonly object[],
): Promise<string> {
  const foreign = join(world.home, '..', 'foreign.jsonl')
  writeFileSync(
    foreign,
    lines(world.work)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(''),
  )
  await must(world, ['convert', foreign, '--to', format, '--out', world.home])
  return /[0-9a-f]{8}-[0-9a-f-]{27}(?=\.jsonl$)/.exec(findLog(world.home, ''))?.[0] ?? ''
}

async function must(world: World, args: readonly string[]): Promise<void> {
  const { code, stderr } = await world.hansard(args)
  if (code !== 0) throw new Error(`hansard ${args.join(' ')} ended with ${code}: ${stderr}`)
}

function findLog(home: string, session: string): string {
  const all = readdirSync(home, { recursive: true, encoding: 'utf8' })
  const log = all.find((path) => /projects|sessions/.test(path) && path.endsWith(`${session}.jsonl`))
  if (log === undefined) throw new Error(`no log of ${session} below ${home}`)
  return join(home, log)
}

const AT = '2026-11-02T09:00:00.000Z'
const THREAD = '01a00000-0000-7000-8000-000000000001'

/** A small rollout, without counts: nothing of it was billed here. */
function rollout(cwd: string): readonly object[] {
  const item = (payload: object): object => ({ timestamp: AT, type: 'response_item', payload })
  const message = (role: string, type: string, text: string): object =>
    item({ type: 'message', role, content: [{ type, text }] })
  return [
    {
      timestamp: AT,
      type: 'session_meta',
      payload: {
        id: THREAD,
        timestamp: AT,
        cwd,
        originator: 'codex_exec',
        cli_version: '0.150.0',
        source: 'exec',
      },
    },
    message('user', 'input_text', 'Look at the harbour.'),
    item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"date"}', call_id: 'call_1' }),
    item({ type: 'function_call_output', call_id: 'call_1', output: 'Monday' }),
    message('assistant', 'output_text', SAID),
  ]
}

/** The same in Claude Code's words. */
function claudeLog(cwd: string): readonly object[] {
  const line = (n: number, role: string, content: object | string): object => ({
    parentUuid: n === 0 ? null : uuid(n - 1),
    isSidechain: false,
    userType: 'external',
    cwd,
    sessionId: uuid(9),
    version: '2.1.190',
    type: role,
    message: {
      role,
      content,
      ...(role === 'assistant' && { id: `msg_${n}`, type: 'message', model: 'claude-sonnet-4-5' }),
    },
    uuid: uuid(n),
    timestamp: AT,
  })
  return [
    line(0, 'user', 'Look at the harbour.'),
    line(1, 'assistant', [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'date' } }]),
    line(2, 'user', [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Monday' }]),
    line(3, 'assistant', [{ type: 'text', text: SAID }]),
  ]
}

const uuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`
