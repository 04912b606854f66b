/** A small session as an agent would have it, for someone with no logs yet: a prompt, tools, a subagent, a failure, an answer. */
import type { Recorder } from '../../capture/record.ts'

const MODEL = 'claude-sonnet-4-5'

/** Records the whole conversation, as it would arrive. */
export function playDemo(session: Recorder): void {
  session.system('You are a careful engineer. Read before you write, and run the tests.')
  session.user('The login page shows "undefined" as the user name. Find out why and fix it.')

  session.assistant('I will look at the component first.', {
    model: MODEL,
    usage: { input: 1240, cacheWrite5m: 3800, output: 46 },
    call: { provider: 'anthropic', messageId: 'msg_demo_1' },
    durationMs: 2140,
  })
  const read = session.toolCall({
    name: 'Read',
    input: { file_path: 'src/login.ts' },
    call: { messageId: 'msg_demo_1' },
  })
  session.toolResult({
    callId: read,
    output: 'export function greet(user) {\n  return `Welcome, ${user.nmae}`\n}\n',
    durationMs: 12,
  })

  const task = session.toolCall({
    name: 'Task',
    input: { description: 'Find other uses', prompt: 'Where else is user.nmae used?' },
    model: MODEL,
    usage: { input: 320, cacheRead: 5040, output: 71 },
    call: { provider: 'anthropic', messageId: 'msg_demo_2' },
  })
  const helper = session.subagent('search')
  helper.user('Where else is user.nmae used?')
  const grep = helper.toolCall({
    name: 'Grep',
    input: { pattern: 'nmae', path: 'src' },
    model: MODEL,
    usage: { input: 610, output: 38 },
    call: { provider: 'anthropic', messageId: 'msg_demo_3' },
  })
  helper.toolResult({
    callId: grep,
    output: 'src/login.ts:2:  return `Welcome, ${user.nmae}`',
    durationMs: 31,
  })
  helper.assistant('Only in src/login.ts, line 2.', {
    model: MODEL,
    usage: { input: 702, output: 14 },
    call: { provider: 'anthropic', messageId: 'msg_demo_4' },
  })
  session.toolResult({ callId: task, output: 'Only in src/login.ts, line 2.', durationMs: 4810 })

  const edit = session.toolCall({
    name: 'Edit',
    input: { file_path: 'src/login.ts', old_string: 'user.nmae', new_string: 'user.name' },
    model: MODEL,
    usage: { input: 180, cacheRead: 5360, output: 88 },
    call: { provider: 'anthropic', messageId: 'msg_demo_5' },
  })
  session.toolResult({ callId: edit, output: 'The file src/login.ts has been updated.', durationMs: 9 })
  const test = session.toolCall({
    name: 'Bash',
    input: { command: 'npm test -- login' },
    model: MODEL,
    usage: { input: 96, cacheRead: 5540, output: 41 },
    call: { provider: 'anthropic', messageId: 'msg_demo_6' },
  })
  session.toolResult({
    callId: test,
    error: 'login.test.ts: 1 failed: expected "Welcome, Ada", got "Welcome, Ada!"',
    durationMs: 3120,
  })

  session.user('The exclamation mark is what we want. Update the test.')
  session.assistant(
    [
      { type: 'thinking', text: 'The component is right now; the test still expects the old text.' },
      {
        type: 'text',
        text: 'Fixed: `user.nmae` was a typo for `user.name`. The test now expects the exclamation mark, and passes.',
      },
    ],
    {
      model: MODEL,
      usage: { input: 410, cacheRead: 5640, output: 129 },
      stopReason: 'end_turn',
      call: { provider: 'anthropic', messageId: 'msg_demo_7' },
      durationMs: 3400,
    },
  )
}
