/** What people do with Codex that has its counts written in different ways, played through with the real one. */
import type { Plays, ToolUse } from './play.ts'
import type { Scenario, World } from './scenario.ts'

const shell = (cmd: string): ToolUse => ({ tool: 'exec_command', input: { cmd } })
const agents = (tool: string, input: ToolUse['input']): ToolUse => ({
  tool,
  namespace: 'multi_agent_v1',
  input,
})

const SHELL: Plays = { shell: [{ say: 'Let me look.', tools: [shell('echo ahoy')] }, { say: 'Ahoy.' }] }
const WORD: Plays = { word: [{ say: 'A word.' }] }

export const codexOptions = ['--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
const OPTIONS = codexOptions

/** One prompt; the id of the thread. */
export async function askCodex(
  world: World,
  args: readonly string[],
  ...more: readonly string[]
): Promise<string> {
  const ran = await world.client(['exec', ...OPTIONS, ...more, ...args])
  const thread = /session id: ([\w-]+)/.exec(ran.stderr + ran.stdout)?.[1]
  if (thread === undefined)
    throw new Error(`Codex ended with ${ran.code} and named no thread: ${ran.stderr.slice(0, 500)}`)
  return thread
}

export const codexScenarios: readonly Scenario[] = [
  {
    name: 'a prompt',
    client: 'codex',
    plays: WORD,
    calls: 1,
    sessions: 1,
    toolCalls: 0,
    run: async (world) => void (await askCodex(world, ['Say a word. play:word'])),
  },
  {
    name: 'tools, reasoning, calls side by side',
    client: 'codex',
    plays: {
      tools: [
        { thinking: 'What is there?', say: 'Let me look.', tools: [shell('ls'), shell('cat notes.txt')] },
        { thinking: 'Does it fail?', tools: [shell('exit 3')] },
        { say: 'Done.' },
      ],
    },
    calls: 3,
    sessions: 1,
    toolCalls: 3,
    run: async (world) => void (await askCodex(world, ['Look at the notes. play:tools'])),
  },
  {
    name: 'resumed twice',
    client: 'codex',
    plays: { ...SHELL, ...WORD },
    calls: 5,
    sessions: 1,
    toolCalls: 2,
    run: async (world) => {
      const thread = await askCodex(world, ['First. play:shell'])
      await askCodex(world, ['resume', thread, 'Second. play:word'])
      await askCodex(world, ['resume', '--last', 'Third. play:shell'])
    },
  },
  {
    name: 'forked twice',
    client: 'codex',
    plays: { ...SHELL, ...WORD },
    calls: 5,
    sessions: 3,
    toolCalls: 1,
    run: async (world) => {
      const thread = await askCodex(world, ['First. play:shell'])
      await askCodex(world, ['fork', thread, 'Another way. play:word'])
      await askCodex(world, ['fork', thread, 'A third way. play:word'])
      await askCodex(world, ['resume', thread, 'Go on. play:word'])
    },
  },
  {
    name: 'subagents, one of them with its parent’s history',
    client: 'codex',
    plays: {
      lead: [
        {
          say: 'I send two.',
          tools: [
            agents('spawn_agent', { message: 'Look around. play:shell' }),
            agents('spawn_agent', { message: 'Go on from here. play:word', fork_context: true }),
          ],
        },
        { tools: [agents('wait_agent', (result) => ({ targets: idsIn(result), timeout_ms: 20_000 }))] },
        { tools: [shell('sleep 2')] },
        { say: 'They are back.' },
      ],
      ...SHELL,
      ...WORD,
    },
    calls: 7,
    sessions: 3,
    toolCalls: 5,
    run: async (world) => void (await askCodex(world, ['Have it done. play:lead'])),
  },
  {
    name: 'limited, broken, then answered',
    client: 'codex',
    plays: {
      faults: [
        { say: 'At last.', tools: [shell('echo one')], fault: { how: 500, times: 2 } },
        { say: 'Done.', fault: { how: 429, times: 1 } },
      ],
    },
    calls: 2,
    sessions: 1,
    toolCalls: 1,
    run: async (world) => void (await askCodex(world, ['Try. play:faults'])),
  },
  {
    name: 'refused for good',
    client: 'codex',
    plays: { ...WORD, refused: [{ say: 'Never.', fault: { how: 400, times: 99 } }] },
    calls: 1,
    sessions: 1,
    toolCalls: 0,
    run: async (world) => {
      const thread = await askCodex(world, ['Say a word. play:word'])
      await askCodex(world, ['resume', thread, 'And now? play:refused'])
    },
  },
  {
    name: 'a stream cut after its first item',
    client: 'codex',
    plays: {
      cut: [
        { say: 'I was about to', tools: [shell('echo one')], fault: { how: 'cut', times: 1 } },
        { say: 'Go on.', tools: [shell('echo two')] },
        { say: 'Done.' },
      ],
    },
    calls: 4,
    sessions: 1,
    toolCalls: 2,
    run: async (world) => void (await askCodex(world, ['Try. play:cut'])),
  },
  {
    name: 'killed in the middle, resumed',
    client: 'codex',
    plays: {
      slow: [
        { say: 'One.', tools: [shell('echo one')] },
        { say: 'Two.', pauseMs: 60_000 },
      ],
      ...WORD,
    },
    calls: 3,
    sessions: 1,
    toolCalls: 1,
    run: async (world) => {
      await world.client(['exec', ...OPTIONS, 'Take your time. play:slow'], { killAtCall: 2 })
      await askCodex(world, ['resume', '--last', 'Where were we? play:word'])
    },
  },
  {
    name: 'compacted when full, within a turn and before one',
    client: 'codex',
    plays: {
      full: [{ say: 'So much.', tools: [shell('echo one')], input: 50_000 }, { say: 'Done.' }],
      more: [{ say: 'Full again.', input: 60_000 }],
      ...WORD,
    },
    calls: 7,
    sessions: 1,
    // The first step comes up again: after a compaction the prompt is there and its answer is not.
    toolCalls: 2,
    run: async (world) => {
      const limit = ['-c', 'model_auto_compact_token_limit=40000']
      const thread = await askCodex(world, ['Fill it. play:full'], ...limit)
      await askCodex(world, ['resume', thread, 'Fill it again. play:more'], ...limit)
      await askCodex(world, ['resume', thread, 'Go on. play:word'], ...limit)
    },
  },
  {
    name: 'three at once in one folder',
    client: 'codex',
    plays: SHELL,
    calls: 6,
    sessions: 3,
    toolCalls: 3,
    run: async (world) => {
      await Promise.all(
        ['one', 'two', 'three'].map((name) => askCodex(world, [`Client ${name}. play:shell`])),
      )
    },
  },
]

function idsIn(result: string): readonly string[] {
  return result.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? []
}
