/** What people do with Claude Code that has its counts written in different ways, played through with the real one. */
import { asString, asObject, parseJson } from '../../src/transcript/json.ts'
import type { Plays, ToolUse } from './play.ts'
import type { Ran } from './programs.ts'
import type { Scenario, World } from './scenario.ts'

const bash = (command: string): ToolUse => ({ tool: 'Bash', input: { command, description: 'a word' } })
const agent = (prompt: string, more: object = {}): ToolUse => ({
  tool: 'Agent',
  input: { description: 'an errand', prompt, subagent_type: 'general-purpose', ...more },
})

const SHELL: Plays = { shell: [{ say: 'Let me look.', tools: [bash('echo ahoy')] }, { say: 'Ahoy.' }] }
const WORD: Plays = { word: [{ say: 'A word.' }] }

export const claudeOptions = ['--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5']
const OPTIONS = ['--output-format', 'json', ...claudeOptions]

/** One prompt; the id of the session. */
export async function askClaude(world: World, prompt: string, ...args: readonly string[]): Promise<string> {
  const ran = await world.client(['-p', prompt, ...OPTIONS, ...args])
  return asString(asObject(parseJson(ran.stdout))?.['session_id']) ?? notSaid(ran)
}

function notSaid({ code, stdout, stderr }: Ran): never {
  throw new Error(`Claude Code ended with ${code} and named no session: ${(stderr || stdout).slice(0, 500)}`)
}

/** Tools for files want whole paths. */
const notesIn = (result: string): string => /\/[^"\\\s]*notes\.txt/.exec(result)?.[0] ?? ''

export const claudeScenarios: readonly Scenario[] = [
  {
    name: 'a prompt',
    client: 'claude-code',
    plays: WORD,
    calls: 1,
    sessions: 1,
    toolCalls: 0,
    run: async (world) => void (await askClaude(world, 'Say a word. play:word')),
  },
  {
    name: 'tools, thinking, calls side by side',
    client: 'claude-code',
    plays: {
      tools: [
        { thinking: 'What is there?', say: 'Let me look.', tools: [bash('ls'), bash('realpath notes.txt')] },
        {
          tools: [
            { tool: 'Read', input: (result) => ({ file_path: notesIn(result) }) },
            bash('realpath notes.txt'),
          ],
        },
        {
          tools: [
            {
              tool: 'Edit',
              input: (result) => ({ file_path: notesIn(result), old_string: 'two', new_string: 'zwei' }),
            },
          ],
        },
        { thinking: 'Does it fail?', tools: [bash('exit 3')] },
        { say: 'Done.' },
      ],
    },
    calls: 5,
    sessions: 1,
    toolCalls: 6,
    run: async (world) => void (await askClaude(world, 'Change the notes. play:tools')),
  },
  {
    name: 'continued and resumed',
    client: 'claude-code',
    plays: { ...SHELL, ...WORD },
    calls: 5,
    sessions: 1,
    toolCalls: 2,
    run: async (world) => {
      const session = await askClaude(world, 'First. play:shell')
      await askClaude(world, 'Second. play:word', '--continue')
      await askClaude(world, 'Third. play:shell', '--resume', session)
    },
  },
  {
    name: 'forked twice',
    client: 'claude-code',
    plays: { ...SHELL, ...WORD },
    calls: 5,
    sessions: 3,
    toolCalls: 3,
    run: async (world) => {
      const session = await askClaude(world, 'First. play:shell')
      await askClaude(world, 'Another way. play:word', '--resume', session, '--fork-session')
      await askClaude(world, 'A third way. play:word', '--resume', session, '--fork-session')
      await askClaude(world, 'Go on. play:word', '--resume', session)
    },
  },
  {
    name: 'a subagent',
    client: 'claude-code',
    plays: {
      lead: [
        { say: 'I send someone.', tools: [agent('Look around. play:shell')] },
        { say: 'They are back.' },
      ],
      ...SHELL,
    },
    calls: 4,
    sessions: 1,
    toolCalls: 2,
    run: async (world) => void (await askClaude(world, 'Have it done. play:lead')),
  },
  {
    name: 'subagents side by side, one behind',
    client: 'claude-code',
    plays: {
      lead: [
        {
          tools: [
            agent('Look left. play:shell'),
            agent('Look right. play:shell', { model: 'haiku' }),
            agent('Look behind. play:word', { run_in_background: true }),
          ],
        },
        { tools: [bash('sleep 1')] },
        { say: 'All are back.' },
      ],
      ...SHELL,
      ...WORD,
    },
    calls: 8,
    sessions: 1,
    toolCalls: 6,
    run: async (world) => void (await askClaude(world, 'Have it done. play:lead')),
  },
  {
    name: 'overloaded, limited, broken, then answered',
    client: 'claude-code',
    plays: {
      faults: [
        { say: 'At last.', tools: [bash('echo one')], fault: { how: 529, times: 2 } },
        { tools: [bash('echo two')], fault: { how: 429, times: 1 } },
        { say: 'Done.', fault: { how: 500, times: 1 } },
      ],
    },
    calls: 3,
    sessions: 1,
    toolCalls: 2,
    run: async (world) => void (await askClaude(world, 'Try. play:faults')),
  },
  {
    name: 'refused for good',
    client: 'claude-code',
    plays: { ...WORD, refused: [{ say: 'Never.', fault: { how: 400, times: 99 } }] },
    calls: 1,
    sessions: 1,
    toolCalls: 0,
    run: async (world) => {
      await askClaude(world, 'Say a word. play:word')
      await askClaude(world, 'And now? play:refused', '--continue')
    },
  },
  {
    name: 'a stream cut after its first block',
    client: 'claude-code',
    plays: {
      cut: [
        { say: 'I was about to', tools: [bash('echo one')], fault: { how: 'cut', times: 1 } },
        { say: 'Done.' },
      ],
      'cut-call': [
        { tools: [bash('echo one'), bash('echo two')], fault: { how: 'cut', times: 1 } },
        { say: 'Done.' },
      ],
    },
    calls: 3,
    sessions: 2,
    toolCalls: 1,
    run: async (world) => {
      await askClaude(world, 'Try. play:cut')
      await askClaude(world, 'Try. play:cut-call')
    },
  },
  {
    name: 'killed in the middle, continued',
    client: 'claude-code',
    plays: {
      slow: [
        { say: 'One.', tools: [bash('echo one')] },
        { say: 'Two.', pauseMs: 60_000 },
      ],
      ...WORD,
    },
    calls: 3,
    sessions: 1,
    toolCalls: 1,
    run: async (world) => {
      await world.client(['-p', 'Take your time. play:slow', ...OPTIONS], { killAtCall: 2 })
      await askClaude(world, 'Where were we? play:word', '--continue')
    },
  },
  {
    name: 'compacted by hand',
    client: 'claude-code',
    plays: { ...SHELL, ...WORD },
    calls: 4,
    sessions: 1,
    toolCalls: 1,
    run: async (world) => {
      const session = await askClaude(world, 'First. play:shell')
      await askClaude(world, '/compact', '--resume', session)
      await askClaude(world, 'Go on. play:word', '--resume', session)
    },
  },
  {
    name: 'three at once in one folder',
    client: 'claude-code',
    plays: SHELL,
    calls: 6,
    sessions: 3,
    toolCalls: 3,
    run: async (world) => {
      await Promise.all(['one', 'two', 'three'].map((name) => askClaude(world, `Client ${name}. play:shell`)))
    },
  },
]
