/** What the real clients are recorded doing, for replay: tools one after the other and side by side, a subagent, an error before an answer. */
import type { Plays } from './play.ts'
import type { ClientName } from './programs.ts'

export type Case = {
  readonly name: string
  readonly client: ClientName
  readonly plays: Plays
  /** Without the prompt, which is last. */
  readonly args: readonly string[]
  readonly prompt: string
  /** The same with one word changed. */
  readonly otherPrompt: string
}

const CLAUDE = ['--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5', '-p']
const CODEX = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox']
const bash = (command: string) => ({ tool: 'Bash', input: { command, description: 'a word' } })
const shell = (cmd: string) => ({ tool: 'exec_command', input: { cmd } })

export const CASES: readonly Case[] = [
  {
    name: 'tools one after the other and side by side',
    client: 'claude-code',
    args: CLAUDE,
    prompt: 'Look at the notes. play:tools',
    otherPrompt: 'Look at the books. play:tools',
    plays: {
      tools: [
        { say: 'Let me look.', tools: [bash('ls'), bash('cat notes.txt')] },
        { tools: [bash('wc -l notes.txt')] },
        { say: 'Three lines.' },
      ],
    },
  },
  {
    name: 'a subagent, an error before an answer',
    client: 'claude-code',
    args: CLAUDE,
    prompt: 'Send somebody. play:errand',
    otherPrompt: 'Send everybody. play:errand',
    plays: {
      errand: [
        {
          say: 'I send one.',
          tools: [
            {
              tool: 'Agent',
              input: {
                description: 'an errand',
                prompt: 'Count. play:count',
                subagent_type: 'general-purpose',
              },
            },
          ],
        },
        { say: 'It is done.', fault: { times: 1, how: 529 } },
      ],
      count: [{ tools: [bash('wc -l notes.txt')] }, { say: 'Three.' }],
    },
  },
  {
    name: 'tools one after the other and side by side',
    client: 'codex',
    args: CODEX,
    prompt: 'Look at the notes. play:tools',
    otherPrompt: 'Look at the books. play:tools',
    plays: {
      tools: [
        { say: 'Let me look.', tools: [shell('ls'), shell('cat notes.txt')] },
        { tools: [shell('wc -l notes.txt')] },
        { say: 'Three lines.' },
      ],
    },
  },
]
