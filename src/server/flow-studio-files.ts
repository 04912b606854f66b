/** Files of steps as Flow Studio's answers have them: lines as they come, all of them as far as one answer takes, a run's events. */
import { asObject, type JsonObject } from '../transcript/json.ts'
import type { AppContext } from './context.ts'
import { toEvents } from './flow-studio-shapes.ts'
import type { FoundRun, FoundStep } from './run-steps.ts'
import { readStep, type StepFile } from './step-files.ts'

/** Of one answer that is not a stream, in characters. */
const MOST_TEXT = 64 * 1024 * 1024

/** The lines of the agent that is meant: the step's own, or a subagent, which in swarm's files is another agent of the step. */
export async function* linesOf({ names }: FoundStep, files: AsyncIterable<StepFile>): AsyncGenerator<string> {
  const own = `/${names.step}-${names.agentKey}-${names.engine}.jsonl`.toLowerCase()
  for await (const { path, text, isWhole } of files)
    if (!isWhole && path.toLowerCase().endsWith(own)) yield text
}

export function toStream(lines: AsyncGenerator<string>, { options }: AppContext): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await lines.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        options.onError?.(error)
        controller.error(error)
      }
    },
    async cancel() {
      await lines.return(undefined)
    },
  })
}

/** Undefined when there is more than an answer takes. */
export async function gather(lines: AsyncIterable<string>): Promise<string | undefined> {
  const parts: string[] = []
  let length = 0
  for await (const line of lines) {
    length += line.length
    if (length > MOST_TEXT) return undefined
    parts.push(line)
  }
  return parts.join('')
}

/** The run's own log as it stands, or else what the steps tell. */
export async function eventsOf(run: FoundRun, context: AppContext): Promise<readonly object[]> {
  const [log] = run.logs
  if (log === undefined) return toEvents(run)
  const items = await context.state.read((database) => readStep(database, context, log.id))
  const events: JsonObject[] = []
  for await (const batch of items ?? []) {
    for (const item of batch) {
      if (item.type !== 'entry') continue
      const [block] = context.redactor.entry(item.entry).blocks
      const raw = block?.type === 'unknown' ? asObject(block.raw) : undefined
      if (raw !== undefined) events.push(raw)
    }
  }
  return events
}
