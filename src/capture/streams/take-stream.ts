/** A stream on its way: its bytes passed on as they come, its lines recorded. A line that cannot be read costs only itself. */
import { foldClaude } from '../../formats/claude-stream-fold.ts'
import { foldCodex } from '../../formats/codex-exec-fold.ts'
import { foldGemini } from '../../formats/gemini-stream-fold.ts'
import { asString, parseJson, type JsonObject } from '../../transcript/json.ts'
import { createLineSplitter, type Line } from '../../transcript/lines.ts'
import type { Session } from '../../transcript/session.ts'
import { createAcpStream } from './acp-stream.ts'
import { oneSession, type OpenSession, type Stream, type StreamName } from './stream.ts'

export type StreamTaken = {
  readonly sessions: readonly Session[]
  readonly lines: number
  /** Of them: no JSON, or too long. They are in the record as damage. */
  readonly damaged: number
}

export type TakeOptions = {
  readonly open: OpenSession
  /** Given every chunk before it is looked at. */
  readonly pass?: (chunk: Buffer) => void | Promise<void>
}

/** Of a line that is damaged, this much is kept. */
const MOST_KEPT = 64 * 1024

export async function takeStream(
  name: StreamName,
  input: AsyncIterable<Buffer>,
  { open, pass }: TakeOptions,
): Promise<StreamTaken> {
  const stream = openStream(name, open)
  const splitter = createLineSplitter()
  let count = 0
  let damaged = 0
  const takeAll = async (lines: readonly Line[]): Promise<void> => {
    for (const { number, byteLength, text } of lines) {
      count += 1
      const value = text === undefined ? undefined : parseJson(text)
      if (value === undefined) {
        damaged += 1
        stream.damaged({
          line: number,
          bytes: byteLength,
          ...(text !== undefined && { text: text.slice(0, MOST_KEPT) }),
        })
      } else await stream.take(value)
    }
  }
  try {
    for await (const chunk of input) {
      await pass?.(chunk)
      await takeAll(splitter.push(chunk))
    }
  } catch (error) {
    // A pipe that breaks is the end of the stream, and not a good one: no line says that it is over.
    stream.damaged({ problem: error instanceof Error ? error.message : String(error) })
  }
  await takeAll(splitter.end())
  return { sessions: await stream.end(), lines: count, damaged }
}

function openStream(name: StreamName, open: OpenSession): Stream {
  const said =
    (field: string) =>
    (line: JsonObject): string | undefined =>
      asString(line[field])
  if (name === 'claude-stream-json')
    return oneSession(open, { agent: 'claude-code', nameIn: said('session_id'), fold: foldClaude })
  if (name === 'codex-exec-json')
    return oneSession(open, { agent: 'codex', nameIn: said('thread_id'), fold: foldCodex })
  if (name === 'gemini-stream-json')
    return oneSession(open, { agent: 'gemini-cli', nameIn: said('session_id'), fold: foldGemini })
  return createAcpStream(open)
}
