/** Entire's checkpoints, and the way we know to miscount them. */
import type { JsonObject } from '../../src/transcript/json.ts'
import { numberAt, objectsIn, toLines, total, type TortureCase } from './case.ts'
import { after, LAST, NEXT, original, plus, tally } from './claude.ts'
import { SESSION, time } from './claude-lines.ts'

const checkpoint = (n: number, ...lines: readonly JsonObject[]): Record<string, string> => ({
  [`a${n}/0123456789/metadata.json`]: JSON.stringify({
    checkpoint_id: `a${n}0123456789`,
    sessions: [
      { metadata: `/a${n}/0123456789/0/metadata.json`, transcript: `/a${n}/0123456789/0/full.jsonl` },
    ],
    token_usage: { input_tokens: LAST.input, output_tokens: LAST.output, api_call_count: 1 },
  }),
  [`a${n}/0123456789/0/metadata.json`]: JSON.stringify({
    cli_version: '0.5.0',
    checkpoint_id: `a${n}0123456789`,
    session_id: SESSION,
    strategy: 'manual-commit',
    created_at: time(n),
    agent: 'Claude Code',
    token_usage: { input_tokens: LAST.input, output_tokens: LAST.output, api_call_count: 1 },
  }),
  [`a${n}/0123456789/0/full.jsonl`]: toLines(...lines),
})

export const entireCases: readonly TortureCase[] = [
  {
    name: 'checkpoints that repeat the session so far',
    format: 'entire',
    files: {
      ...checkpoint(1, ...original),
      ...checkpoint(2, ...original, after),
    },
    naive: {
      does: 'adds up each checkpoint’s token_usage',
      count: (files) => {
        const sums = objectsIn(files).filter((one) => 'api_call_count' in one)
        return {
          input: total(sums, (one) => numberAt(one, 'input_tokens')),
          output: total(sums, (one) => numberAt(one, 'output_tokens')),
        }
      },
    },
    truth: tally(plus(LAST, NEXT), 2),
  },
]
