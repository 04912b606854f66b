/**
 * A log of one session of any length, as Claude Code writes it: a kilobyte an entry of prompts, answers, tools and what they return, or
 * several.
 */
import fs from 'node:fs'

export const LONG_SESSION = '12121212-1111-4111-8111-111111111111'

export type LongLog = { readonly session?: string; /** Of an entry, about. */ readonly kilobytes?: number }

/** Returns its bytes. */
export function writeLongLog(
  path: string,
  entries: number,
  { session = LONG_SESSION, kilobytes = 1 }: LongLog = {},
): number {
  const fd = fs.openSync(path, 'w')
  let bytes = 0
  let text = ''
  for (let n = 0; n < entries; n += 1) {
    text += `${JSON.stringify(lineOf(n, session, kilobytes))}\n`
    if (text.length < 1_000_000 && n < entries - 1) continue
    bytes += fs.writeSync(fd, text)
    text = ''
  }
  fs.closeSync(fd)
  return bytes
}

/** What a session of so many entries goes on with. */
export function promptLine(n: number, text: string, session = LONG_SESSION): string {
  return `${JSON.stringify({ ...shared(n, session), type: 'user', message: { role: 'user', content: text } })}\n`
}

/** Whether it is shown by itself: what tools return is shown with their calls. */
export const isShownAlone = (n: number): boolean => n % 10 === 0 || n % 3 !== 2

const WORDS = 'the parser reads a line and gives what it found to whoever asked for it; '

function lineOf(n: number, session: string, kilobytes: number): object {
  /** 73 characters each: a third of the entries are as much longer as all have to be on average. */
  const more = Math.round((kilobytes - 1) * 41)
  const assistant = (content: object): object => ({
    ...shared(n, session),
    type: 'assistant',
    requestId: `req_${session.slice(0, 8)}_${n}`,
    message: {
      id: `msg_${session.slice(0, 8)}_${n}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: [content],
      usage: { input_tokens: 3, cache_read_input_tokens: 40_000 + (n % 100_000), output_tokens: 120 },
    },
  })
  const user = (content: unknown): object => ({
    ...shared(n, session),
    type: 'user',
    message: { role: 'user', content },
  })
  if (n % 10 === 0) return user(`prompt ${n}: ${WORDS.repeat(4)}`)
  if (n % 3 === 0) return assistant({ type: 'text', text: `answer ${n}: ${WORDS.repeat(6)}` })
  if (n % 3 === 1)
    return assistant({ type: 'tool_use', id: `toolu_${n}`, name: 'Bash', input: { command: `ls ${n}` } })
  return user([
    {
      type: 'tool_result',
      tool_use_id: `toolu_${n - 1}`,
      content: `${n} ${WORDS.repeat(14 + more)}`,
      is_error: n % 97 === 0,
    },
  ])
}

const shared = (n: number, sessionId: string): object => ({
  parentUuid: n === 0 ? null : uuid(n - 1, sessionId),
  isSidechain: false,
  userType: 'external',
  cwd: '/home/me/project',
  sessionId,
  version: '2.1.42',
  gitBranch: 'main',
  uuid: uuid(n, sessionId),
  timestamp: new Date(1_770_000_000_000 + n * 1000).toISOString(),
})

/** Ids of one session are not those of another: what has the same is taken for a copy. */
const uuid = (n: number, session: string): string =>
  `${session.slice(0, 8)}-0000-4000-8000-${String(n).padStart(12, '0')}`
