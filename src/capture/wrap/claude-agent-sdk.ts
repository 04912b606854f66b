/** `hansard/claude-agent-sdk`: `const query = record(sdk.query)`. */
import { createReporter } from '../report.ts'
import { createTranscriptPaths } from './agent-paths.ts'
import { recordQuery, type AnyQuery } from './agent-query.ts'
import { isOff, type WrapOptions } from './wrap-log.ts'

export type { WrapOptions } from './wrap-log.ts'

export type AgentOptions = WrapOptions & {
  /**
   * Homes of its own that the agent is given, and whose transcripts may be read: folders that hold a `.claude`, or are one. They are
   * read before the last message has been handed on.
   */
  readonly homes?: readonly string[]
}

/** The same function, with the same type. Each run is a session, with its subagents. */
export function record<Q extends AnyQuery>(query: Q, options: AgentOptions = {}): Q {
  if (isOff(options)) return query
  const { homes = [], subagents = 1, ...recording } = options
  return recordQuery(
    query,
    {
      recording: { ...recording, capture: { subagents, ...recording.capture } },
      paths: createTranscriptPaths(homes),
    },
    createReporter(options.onFailure),
  )
}
