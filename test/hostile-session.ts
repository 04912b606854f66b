/** A log of Claude Code with hostile text in every field that it has. */
import { HOSTILE } from './hostile-payloads.ts'
import { createLines } from './session-sample.ts'

export function hostileSession(id: string): string {
  const to = createLines(id, { cwd: `/x/${HOSTILE[0]}`, gitBranch: HOSTILE[1] })
  to.user('hostile, in every field')
  HOSTILE.forEach((text, at) => {
    if (at % 6 === 0) to.user(text)
    else if (at % 6 === 1)
      to.assistant([
        { type: 'thinking', thinking: text, signature: text },
        { type: 'text', text },
      ])
    else if (at % 6 === 2) to.tool(text.slice(0, 60), { command: text, [text]: text }, text, at % 4 === 0)
    else if (at % 6 === 3)
      to.tool('Edit', { file_path: text, old_string: text, new_string: `${text}!` }, [{ type: 'text', text }])
    else if (at % 6 === 4) to.line({ type: 'system', subtype: text, content: text, level: text })
    else
      to.user([
        { type: 'image', source: { type: 'base64', media_type: text, data: text } },
        { type: 'image', source: { type: 'url', url: text } },
      ])
  })
  // All of them as what people read.
  for (const text of HOSTILE)
    to.assistant([{ type: 'text', text: `before\n\n${text}\n\nafter` }], { isApiErrorMessage: true })
  return to.text()
}
