/** What the provider answers the programs of this folder. */
import type { Plays } from '../clients/play.ts'

const adding = { tool: 'add', input: { a: 2, b: 3 } }

export const PLAYS: Plays = {
  word: [{ say: 'A word.' }],
  raw: [{ say: 'Raw.' }],
  copied: [{ say: 'Copied.' }],
  streamed: [{ say: 'Streamed words.' }],
  sum: [{ say: 'Let me add.', tools: [adding] }, { say: 'It is 5.' }],
  'sum-streamed': [{ say: 'Let me add.', tools: [adding] }, { say: 'It is 5 again.' }],
  busy: [{ say: 'At last.', fault: { how: 429, times: 1 } }],
  wrong: [{ say: 'Never.', fault: { how: 500, times: 100 } }],
  answered: [{ say: 'Answered.' }],
  'answered-streamed': [{ say: 'Answered in parts.' }],
  chat: [{ say: 'First.' }, { say: 'Second.' }],
  shell: [
    {
      say: 'Let me look.',
      tools: [{ tool: 'Bash', input: { command: 'echo out', description: 'say a word' } }],
    },
    { say: 'Done.' },
  ],
  subagent: [
    {
      say: 'I ask another.',
      tools: [
        {
          tool: 'Agent',
          input: { description: 'a look', prompt: 'play:inner', subagent_type: 'general-purpose' },
        },
      ],
    },
    { say: 'The other is done.' },
  ],
  inner: [
    { say: 'Looking.', tools: [{ tool: 'Bash', input: { command: 'echo inner', description: 'look' } }] },
    { say: 'Seen.' },
  ],
}
