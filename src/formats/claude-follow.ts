/**
 * A session of Claude Code read on as it is written: its own log, and those of its subagents, each from where it ended. What files say
 * first counts for the session in the order in which they are read, so its own log has to be there from the beginning.
 */
import type { SourceFile } from '../transcript/source.ts'
import { agentOf, kindOf } from './claude-code-files.ts'
import { AGENT_META, TOOL_RESULT } from './claude-code-write.ts'
import type { ClaudeReading } from './claude-reading.ts'
import type { LogFollowing } from './format.ts'

type Options = {
  /** `hasLog`: of a subagent. */
  readonly createReading: (hasLog: (agent: string) => boolean) => ClaudeReading
  /** What the name of the session's own log says. */
  readonly optionsOf: (path: string) => Parameters<ClaudeReading['read']>[1]
}

/** More files than any session has by far. */
const MOST_FILES = 2000

export function followClaude({ createReading, optionsOf }: Options): LogFollowing {
  const agents = new Set<string>()
  const paths = new Set<string>()
  let main: string | undefined
  let isSure = true
  const reading = createReading((agent) => agents.has(agent))

  /** Before anything is read: which subagents have logs decides what is read of others. */
  const announce = ({ path }: SourceFile): void => {
    const kind = kindOf(path)
    const isNew = !paths.has(path)
    paths.add(path)
    if (kind === 'log') {
      isSure &&= main === undefined ? paths.size === 1 : path === main
      main ??= path
    } else if (kind === 'agent') {
      // Messages that were taken from progress lines stand in its log as well.
      if (isNew && reading.hasEmbedded()) isSure = false
      agents.add(agentOf(path) ?? '')
    } else if (kind === 'other' || !isNew) isSure = false
    if (paths.size > MOST_FILES) isSure = false
  }

  return {
    async *more(added) {
      // The session's own log is first by its path, but for files of other sessions.
      const inOrder = added.toSorted((a, b) => rankOf(a) - rankOf(b))
      for (const file of inOrder) announce(file)
      if (!isSure) return
      for (const file of inOrder) {
        const { path } = file
        const kind = kindOf(path)
        const source = `subagent:${agentOf(path.replace(/\.meta\.json$/, '.jsonl')) ?? ''}`
        if (kind === 'log') yield* reading.read(file, optionsOf(path))
        else if (kind === 'agent') {
          // Of what a subagent says of the session, the first or the last counts: by the order of files, not by that of writing.
          const before = reading.ofSession()
          yield* reading.read(file, { source })
          if (reading.ofSession() !== before || !reading.hasOwnModel()) isSure = false
        } else if (kind === 'meta')
          yield [await reading.document(file, { source, record: AGENT_META, isBehind: true })]
        else yield [await reading.text(file, { record: TOOL_RESULT, isBehind: true })]
      }
      yield reading.end()
    },
    isSure: () => isSure && main !== undefined && reading.isChosen(),
  }
}

const ORDER = ['log', 'agent', 'meta', 'result', 'other']

function rankOf({ path }: SourceFile): number {
  return ORDER.indexOf(kindOf(path))
}
