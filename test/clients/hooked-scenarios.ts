/**
 * One conversation, captured twice and three times: by the client's own hooks, which sync its log while it runs, by what it prints, and by
 * the sync that follows. The list shows it once, with what was billed.
 */
import { claudeOptions } from './claude-scenarios.ts'
import { codexOptions } from './codex-scenarios.ts'
import type { Plays, ToolUse } from './play.ts'
import type { Scenario, World } from './scenario.ts'

const bash = (command: string): ToolUse => ({ tool: 'Bash', input: { command, description: 'a word' } })
const agent = (prompt: string): ToolUse => ({
  tool: 'Agent',
  input: { description: 'an errand', prompt, subagent_type: 'general-purpose' },
})
const CLAUDE: Plays = {
  lead: [
    {
      thinking: 'Who goes?',
      say: 'I send someone.',
      tools: [agent('Look around. play:shell'), bash('echo two')],
    },
    { say: 'They are back.' },
  ],
  shell: [{ say: 'Let me look.', tools: [bash('echo ahoy')] }, { say: 'Ahoy.' }],
}
const CODEX: Plays = {
  shell: [
    { say: 'Let me look.', tools: [{ tool: 'exec_command', input: { cmd: 'echo ahoy' } }] },
    { say: 'Ahoy.' },
  ],
}

const STREAM = ['--output-format', 'stream-json', '--verbose']

export const hookedScenarios: readonly Scenario[] = [
  {
    name: 'hooked',
    client: 'claude-code',
    plays: CLAUDE,
    calls: 4,
    sessions: 1,
    toolCalls: 3,
    run: async (world) => {
      await install(world, 'claude-code')
      await world.client(['-p', 'Have it done. play:lead', ...claudeOptions])
      await synced(world, 1)
    },
  },
  ...[[], ['--include-partial-messages']].map((more): Scenario => ({
    name: `hooked, and printed${more.length > 0 ? ' in parts' : ''}`,
    client: 'claude-code',
    plays: CLAUDE,
    calls: 4,
    sessions: 1,
    toolCalls: 3,
    run: async (world) => {
      await install(world, 'claude-code')
      const args = ['-p', 'Have it done. play:lead', ...claudeOptions, ...STREAM, ...more]
      await world.printed(args, 'claude-stream-json')
      await synced(world, 1)
    },
  })),
  {
    name: 'hooked, and printed',
    client: 'codex',
    plays: CODEX,
    calls: 2,
    sessions: 1,
    toolCalls: 1,
    run: async (world) => {
      await install(world, 'codex')
      await world.printed(['exec', '--json', ...codexOptions, 'Look. play:shell'], 'codex-exec-json')
      await synced(world, 1)
    },
  },
]

export async function install(world: World, client: string): Promise<void> {
  const { code, stderr } = await world.hansard(['hook', 'install', client, '--yes'])
  if (code !== 0) throw new Error(`the hook is not installed: ${stderr}`)
}

/** What hooks asked for is done, and nothing went wrong; without the sync that follows, the session is there. */
export async function synced(world: World, sessions?: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const { stdout } = await world.hansard(['hook', 'status', '--json'])
    const { waiting, atWork, failures } = JSON.parse(stdout) as {
      waiting: number
      atWork: boolean
      failures: { problem: string }[]
    }
    if (failures[0] !== undefined) throw new Error(`a hook failed: ${failures[0].problem}`)
    if (waiting > 0 || atWork) continue
    const listed = JSON.parse((await world.hansard(['list', '--json'])).stdout) as { sessions: object[] }
    if (sessions !== undefined && listed.sessions.length !== sessions)
      throw new Error(`${listed.sessions.length} sessions by hooks, not ${sessions}`)
    return
  }
  throw new Error('what hooks asked for is not done')
}
