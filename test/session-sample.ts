/** A session with all that a transcript can have: prompts, thoughts, tools, edits, failures, a subagent, pictures, colours, damage. */

export const ESC = '\u001b'
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP8z4APMOGVHbHSAEEsAROxCnMTAAAAAElFTkSuQmCC'

export type Lines = {
  user(content: unknown, more?: object): void
  assistant(content: readonly object[], more?: object): void
  tool(name: string, input: object, output: unknown, isError?: boolean): void
  line(line: object): void
  raw(line: string): void
  text(): string
}

/** Lines as Claude Code writes them, each after the one before. */
export function createLines(id: string, shared: object = {}): Lines {
  const lines: string[] = []
  let [parentUuid, second, calls]: [string | null, number, number] = [null, 0, 0]
  const line = (value: object): void => {
    const uuid = `${id.slice(0, 8)}-${lines.length}`
    const timestamp = new Date(Date.UTC(2026, 10, 14, 9) + second * 1000).toISOString()
    const about = {
      sessionId: id,
      cwd: '/work/shop',
      gitBranch: 'fix/login',
      version: '2.1.74',
      isSidechain: false,
    }
    lines.push(JSON.stringify({ ...about, ...shared, uuid, parentUuid, timestamp, ...value }))
    parentUuid = uuid
    second += 7
  }
  const own: Lines = {
    line,
    raw: (text) => void lines.push(text),
    user: (content, more = {}) => line({ type: 'user', message: { role: 'user', content }, ...more }),
    assistant(content, more = {}) {
      const usage = {
        input_tokens: 900,
        cache_read_input_tokens: 30_000,
        cache_creation_input_tokens: 0,
        output_tokens: 400,
      }
      const message = {
        id: `msg-${id.slice(0, 8)}-${JSON.stringify(shared).length}-${lines.length}`,
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content,
        usage,
      }
      line({ type: 'assistant', message, ...more })
    },
    tool(name, input, output, isError = false) {
      calls += 1
      const use = `call-${id.slice(0, 8)}-${calls}-${lines.length}`
      own.assistant([{ type: 'tool_use', id: use, name, input }])
      own.user([
        { type: 'tool_result', tool_use_id: use, content: output, ...(isError && { is_error: true }) },
      ])
    },
    text: () => lines.map((text) => `${text}\n`).join(''),
  }
  return own
}

export const ANSWER = `## What I found

The timeout is set **before** the socket connects, so a slow network loses the race.

1. \`connect()\` starts a timer
2. the timer never resets

| step | before | after |
|---|---|---|
| connect | 3 s | 10 s |
| retry | none | 2 |

\`\`\`ts
export function connect(timeout = 10_000): Promise<Socket> {
  // The clock starts when the socket does.
  return withTimeout(open(), timeout)
}
\`\`\`

See [the guide](https://example.com/guide) and [this file](src/login.ts).`

export function richSession(id: string): string {
  const to = createLines(id)
  to.user('Fix the **login timeout** on slow networks.\n\nIt fails for people on trains.')
  to.assistant([
    {
      type: 'thinking',
      thinking: 'The user wants the timeout fixed. Let me look at the code first.',
      signature: 'x',
    },
  ])
  to.assistant([{ type: 'text', text: 'I will look at how the connection is made.' }])
  to.tool(
    'Grep',
    { pattern: 'timeout', path: 'src' },
    'src/login.ts:12: const timeout = 3000\nsrc/login.ts:40: setTimeout(abort, timeout)',
  )
  to.tool('Read', { file_path: '/work/shop/src/login.ts' }, '12\tconst timeout = 3000\n13\t// never reset')
  to.tool(
    'Edit',
    {
      file_path: '/work/shop/src/login.ts',
      old_string: 'const timeout = 3000\nconnect(timeout)',
      new_string: 'const timeout = 10_000\nconnect(timeout)\nretry(2)',
    },
    'The file was updated.',
  )
  to.tool(
    'Bash',
    { command: 'npm test -- login', description: 'Run the tests' },
    `${ESC}[1;31mFAIL${ESC}[0m login.test.ts\n${ESC}[32m✓${ESC}[0m connects\n${ESC}[31m✗ times out${ESC}[39m\n10%\r50%\r100% done\nexit code 1`,
    true,
  )
  to.tool(
    'TodoWrite',
    {
      todos: [
        { content: 'fix', status: 'completed' },
        { content: 'test', status: 'in_progress', activeForm: 'Testing' },
      ],
    },
    'ok',
  )
  to.tool('mcp__shots__take', { url: 'http://localhost:3000' }, [
    { type: 'text', text: 'a picture' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
  ])
  to.assistant([{ type: 'text', text: ANSWER }])
  to.raw('{"type":"user","message":{"role":"user","conte')
  to.user('Now look for other timeouts')
  to.tool(
    'Task',
    { description: 'Look for other timeouts', prompt: 'Find every timeout', subagent_type: 'explorer' },
    [{ type: 'text', text: 'Three others, all fine.' }],
  )
  to.line({
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    compactMetadata: { trigger: 'auto' },
  })
  to.user('Commit it', { timestamp: '2026-11-14T12:00:00.000Z' })
  to.assistant([{ type: 'text', text: 'Committed.' }])
  return to.text()
}

/** The log of a subagent of a session. */
export function subagentLog(id: string, agent: string): string {
  const to = createLines(id, { agentId: agent, isSidechain: true })
  to.user('Find every timeout')
  to.tool('Grep', { pattern: 'setTimeout' }, 'a.ts\nb.ts\nc.ts')
  to.assistant([{ type: 'text', text: 'Three others, all fine.' }])
  return to.text()
}
