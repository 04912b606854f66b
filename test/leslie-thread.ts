/** A thread of leslie's as its seed prints it, and one of our own that is written. */
import { expect } from 'vitest'
import { leslie } from '../src/formats/leslie.ts'
import type { Block } from '../src/transcript/block.ts'
import type { Entry } from '../src/transcript/entry.ts'
import type { Session } from '../src/transcript/session.ts'
import { entry } from './entries.ts'
import { writeTranscript, type MemoryFiles } from './memory-files.ts'

export const ZONE = { timeZone: 'Asia/Shanghai' }
export const FOLDER = 'threads/thread-abc123/.meta/transcripts'

export const EXAMPLE = `Thread ID: thread-abc123
Chat ID: chat-xyz789
Time Range: 2026-02-08T14:30:00+08:00 ~ 2026-02-08T14:35:00+08:00
Agent Mode: agent
Stop Reason: end_turn
Tool Calls: 5
---

user:
<user_query>
Implement user login functionality
</user_query>

A:
I'll help you implement user login. Let me check the project structure first.

[Tool call] list_files
{"path": "src"}

[Tool result] list_files
src/
├── components/
├── pages/
└── utils/

A:
I see the structure. Let me create the login component.

[Tool call] write_to_file
{"path": "src/components/Login.tsx", "content": "..."}

[Tool result] write_to_file
File created successfully

A:
Login component created successfully.
`

export const facts: Session = {
  id: '0190c8a4-0000-7000-8000-000000000001',
  thread: 'thread-abc123',
  chat: 'chat-xyz789',
  mode: 'agent',
  startedAt: '2026-02-08T06:30:00.000Z',
  endedAt: '2026-02-08T06:35:00.000Z',
  status: 'completed',
}

export const user = (text: string, at = '2026-02-08T06:30:00.000Z'): Entry => entry('user', at, text)

export const assistant = (...blocks: (Block | string)[]): Entry =>
  entry('assistant', '2026-02-08T06:31:00.000Z', ...blocks)

export function write(entries: readonly Entry[], session: Partial<Session> = {}, target?: MemoryFiles) {
  return writeTranscript(
    leslie,
    { session: { ...facts, ...session }, entries },
    { ...ZONE, ...(target && { files: target }) },
  )
}

export const texts = (target: MemoryFiles): string[] =>
  [...target.values()].map((bytes) => bytes.toString('utf8'))

export const only = (target: MemoryFiles): string => {
  expect(target.size).toBe(1)
  return texts(target)[0] as string
}
