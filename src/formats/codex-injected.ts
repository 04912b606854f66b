/** Messages that Codex writes in the user's name: where it runs, the project's rules, what became of a turn. Nobody typed them. */
import type { Block } from '../transcript/block.ts'

const STARTS = [
  '<environment_context>',
  '<user_instructions>',
  '# AGENTS.md instructions',
  '<skill>',
  '<turn_aborted>',
  '<subagent_notification>',
]

/** True when every text is Codex's own. One that holds anything else too is the user's. */
export function isInjected(blocks: readonly Block[]): boolean {
  return (
    blocks.length > 0 &&
    blocks.every((block) => {
      const { text } = block.type === 'text' ? block : {}
      return typeof text === 'string' && STARTS.some((start) => text.trimStart().startsWith(start))
    })
  )
}
