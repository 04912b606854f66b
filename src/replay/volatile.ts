/**
 * Table of what may differ between two equal runs of an agent: ids, times, places. Replay and `diff` read every text by it. A row's name
 * is what a replay reports, docs/replay.md lists the rows, and `volatile.test.ts` has an example of each from a real run.
 */

/** What to look for, and what stands for it. */
export type Shape = readonly [shape: RegExp, instead: string]

export type Volatile = {
  readonly name: string
  /** Fields of a request that are left out. */
  readonly fields?: readonly string[]
  /** Applied in order, each to the whole text. */
  readonly shapes?: readonly Shape[]
  /** Numbers that are left out. */
  readonly isNumber?: (value: number) => boolean
  /** The model may name it in a later answer: a replayed answer then gets the one of this run. */
  readonly isNamedAgain?: boolean
}

const MONTHS = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const DAYS = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}'

/** The order counts: what an earlier row has read, a later one does not see. */
export const VOLATILE: readonly Volatile[] = [
  { name: 'cache-control', fields: ['cache_control'] },
  {
    name: 'user-ids',
    fields: ['user_id', 'user', 'safety_identifier', 'prompt_cache_key', 'device_id'],
  },
  { name: 'metadata', fields: ['client_metadata', 'internal_chat_message_metadata_passthrough'] },
  { name: 'padding', fields: ['obfuscation'] },
  { name: 'billing', shapes: [[/x-anthropic-billing-header:[^\n]*/g, '<billing>']] },
  {
    name: 'paths',
    shapes: [
      // Whose home it is tells what agents keep there.
      [/(?:\/[\w.-]{1,64}){1,12}(?=\/\.(?:claude|codex|gemini|qwen|config|cache|local)\b)/g, '<folder>'],
      [/(?:\/private)?\/var\/folders\/[\w.-]{1,64}\/[\w.-]{1,64}\/T\/[\w.-]{1,128}/g, '<folder>'],
      [/(?:\/private)?\/tmp\/[\w.-]{1,128}/g, '<folder>'],
      [/\/(?:home|Users)\/[\w.-]{1,64}|\/root\b/g, '<folder>'],
    ],
  },
  {
    name: 'ids',
    isNamedAgain: true,
    shapes: [
      [
        /(?:\b[a-z]{1,10}_)?(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/gi,
        '<id>',
      ],
      // As providers and agents make them; a digit in it, so that names of functions are none.
      [
        /\b(?:msg|toolu|srvtoolu|call|resp|rs|fc|ctc|req|chatcmpl|cmpl|agent)[-_](?=[A-Za-z_-]{0,40}\d)[\w-]{1,80}/g,
        '<id>',
      ],
      // What agents call a command or a subagent that goes on in the background.
      [
        /(?<=<task-id>|\b(?:agentId|task_id|Chunk ID|background with ID): |\bsession ID |\/tasks\/)(?=[a-z-]{0,15}\d)[0-9a-z-]{4,40}\b/g,
        '<id>',
      ],
      // In a tool's arguments, and in what it gave.
      [/(?<="(?:session|task|agent|shell|bash)_id": ?"?)[\w-]{1,80}/g, '<id>'],
    ],
  },
  {
    name: 'processes',
    isNamedAgain: true,
    shapes: [
      [
        /(?<=\b(?:Process Group PGID|PGID|Background PIDs|PIDs?)(?:: ?|=))\d{1,10}(?:, ?\d{1,10}){0,99}/g,
        '<process>',
      ],
    ],
  },
  {
    name: 'nicknames',
    shapes: [[/(?<="(?:agent_)?nickname": ?")[^"\\\n]{1,64}/g, '<name>']],
  },
  {
    name: 'dates',
    shapes: [
      [
        /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?/g,
        '<date>',
      ],
      [new RegExp(`\\b(?:${DAYS},? )?${MONTHS} \\d{1,2}(?:,? \\d{4})?\\b`, 'g'), '<date>'],
      [new RegExp(`\\b\\d{1,2} ${MONTHS},? \\d{4}\\b`, 'g'), '<date>'],
      [/\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b/g, '<time>'],
      [/\b1[6-9]\d{8}(?:\d{3})?(?:\.\d{1,9})?\b/g, '<date>'],
    ],
    // Seconds or milliseconds since 1970, of our days.
    isNumber: (value) => (value > 1.6e9 && value < 2e9) || (value > 1.6e12 && value < 2e12),
  },
  {
    name: 'git',
    isNamedAgain: true,
    shapes: [[/\b(?=[0-9a-f]{0,39}[a-f])(?=[0-9a-f]{0,39}\d)[0-9a-f]{7,40}\b/g, '<commit>']],
  },
  {
    name: 'durations',
    shapes: [
      [/\b(?:duration|elapsed)(?:_ms|Ms|_s)?(?:["']?[:=] ?|>)\d{1,9}(?:\.\d{1,9})?/g, '<duration>'],
      [/\b\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|secs?|seconds?|minutes?)\b/g, '<duration>'],
    ],
  },
]
