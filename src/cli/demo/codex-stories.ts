/** Sessions of Codex: a patch, a thread that it starts, and one that was interrupted. Counts are Codex's: sums, with the cached part inside. */
import type { JsonObject } from '../../transcript/json.ts'

export type Rollout = { readonly name: string; readonly text: string }

const CWD = '/home/ada/harbour-api'
const PARENT = '01980000-0001-7000-8000-0000000000d1'
const CHILD = '01980000-0002-7000-8000-0000000000d2'
const STOPPED = '01980000-0003-7000-8000-0000000000d3'

export function codexStories(begins: number): readonly Rollout[] {
  return [exportStory(begins), childStory(begins + 62_000), stoppedStory(begins - 26 * 3_600_000)]
}

function exportStory(begins: number): Rollout {
  const to = createRollout(PARENT, begins, 'gpt-5.5')
  to.asks('The export of berths leaves out harbours whose name has a comma. Fix it.')
  to.thinks('**Looking at the writer**\n\nFields are probably joined by hand.')
  to.runs(
    ['bash', '-lc', 'rg -n "join\\(" src/export'],
    'src/export/csv.ts:14:  return fields.join(",")',
    1.1,
  )
  to.calls(
    'spawn_agent',
    { message: 'Check who else writes CSV by hand.' },
    JSON.stringify({ agent_id: CHILD }),
  )
  to.patches(
    `*** Begin Patch\n*** Update File: src/export/csv.ts\n@@\n export function toLine(fields: readonly string[]): string {\n-  return fields.join(',')\n+  return fields.map(quoted).join(',')\n }\n+\n+/** As RFC 4180 has it. */\n+function quoted(field: string): string {\n+  return /[",\\n]/.test(field) ? \`"\${field.replaceAll('"', '""')}"\` : field\n+}\n*** Add File: src/export/csv.test.ts\n+import { expect, it } from 'vitest'\n+import { toLine } from './csv.ts'\n+\n+it('quotes what has a comma', () => {\n+  expect(toLine(['Nykøbing, Mors', '12'])).toBe('"Nykøbing, Mors",12')\n+})\n*** End Patch`,
    'Success. Updated the following files:\nM src/export/csv.ts\nA src/export/csv.test.ts',
  )
  to.runs(
    ['bash', '-lc', 'npx vitest run src/export'],
    '\u001b[32m ✓\u001b[39m src/export/csv.test.ts (1 test) 2ms\n\u001b[32m1 passed\u001b[39m',
    3.2,
  )
  to.says(
    'Fields that hold a comma, a quote or a line break are quoted now, as RFC 4180 has it. `Nykøbing, Mors` is one field again.',
  )
  return to.end()
}

function childStory(begins: number): Rollout {
  const source = {
    subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1, agent_nickname: 'Kelp' } },
  }
  const to = createRollout(CHILD, begins, 'gpt-5.4-mini', { source })
  to.asks('Check who else writes CSV by hand.')
  to.runs(['bash', '-lc', 'rg -l "text/csv"'], 'src/export/csv.ts\nsrc/report/daily.ts', 0.8)
  to.says('`src/report/daily.ts` does, with numbers alone: nothing in it needs quotes.')
  return to.end()
}

function stoppedStory(begins: number): Rollout {
  const to = createRollout(STOPPED, begins, 'gpt-5.5')
  to.asks('Migrate the berth table to the new schema')
  to.runs(
    ['bash', '-lc', 'npm run migrate -- --dry-run'],
    'Exit code: 1\nWall time: 12.4 seconds\nOutput:\nerror: relation "berths_new" already exists',
    12.4,
  )
  to.stops()
  return to.end()
}

function createRollout(thread: string, begins: number, model: string, facts: JsonObject = {}) {
  const lines: string[] = []
  let [clock, calls, input, cached, output] = [begins, 0, 0, 0, 0]
  const line = (type: string, payload: JsonObject): void => {
    lines.push(JSON.stringify({ timestamp: new Date(clock).toISOString(), type, payload }))
  }
  const item = (payload: JsonObject): void => line('response_item', payload)
  const event = (type: string, more: JsonObject = {}): void => line('event_msg', { type, ...more })
  /** After each answer Codex says what it has used in all, and for this one. */
  const counts = (text: string): void => {
    const last = {
      input: 9200 + calls * 1700,
      cached: calls === 0 ? 0 : 8100 + calls * 1500,
      output: 60 + Math.ceil(text.length / 4),
    }
    input += last.input
    cached += last.cached
    output += last.output
    clock += 2400 + last.output * 12
    const toCounts = (all: typeof last): JsonObject => ({
      input_tokens: all.input,
      cached_input_tokens: all.cached,
      output_tokens: all.output,
      reasoning_output_tokens: Math.floor(all.output / 3),
      total_tokens: all.input + all.output,
    })
    const info = {
      total_token_usage: toCounts({ input, cached, output }),
      last_token_usage: toCounts(last),
      model_context_window: 272_000,
    }
    event('token_count', { info, rate_limits: null })
    calls += 1
  }
  const turn = `${thread.slice(0, -4)}aa${thread.slice(-2)}`
  line('session_meta', {
    id: thread,
    timestamp: new Date(begins).toISOString(),
    cwd: CWD,
    originator: 'codex_cli_rs',
    cli_version: '0.140.0',
    source: 'cli',
    model_provider: 'openai',
    git: { branch: 'fix/export', commit_hash: '7c1d02a' },
    ...facts,
  })
  const answered = (call: JsonObject, result: JsonObject, seconds: number): void => {
    const call_id = `call_demo_${thread.slice(-2)}_${calls}`
    item({ ...call, call_id })
    counts(JSON.stringify(call))
    clock += seconds * 1000
    item({ ...result, call_id })
    clock += 300
  }
  return {
    asks(text: string): void {
      line('turn_context', { turn_id: turn, cwd: CWD, approval_policy: 'never', model })
      event('task_started', { turn_id: turn })
      item({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
      clock += 500
    },
    thinks: (text: string): void =>
      item({ type: 'reasoning', summary: [{ type: 'summary_text', text }], encrypted_content: 'gAAAAdemo' }),
    says(text: string): void {
      item({ type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] })
      counts(text)
      event('task_complete', { turn_id: turn, last_agent_message: text })
    },
    calls: (name: string, input: JsonObject, out: string): void =>
      answered(
        { type: 'function_call', name, arguments: JSON.stringify(input) },
        { type: 'function_call_output', output: out },
        0.2,
      ),
    runs: (command: readonly string[], out: string, seconds: number): void =>
      answered(
        { type: 'function_call', name: 'shell', arguments: JSON.stringify({ command, workdir: CWD }) },
        { type: 'function_call_output', output: out },
        seconds,
      ),
    patches: (patch: string, out: string): void =>
      answered(
        { type: 'custom_tool_call', status: 'completed', name: 'apply_patch', input: patch },
        { type: 'custom_tool_call_output', output: out },
        0.3,
      ),
    stops: (): void => event('turn_aborted', { turn_id: turn, reason: 'interrupted' }),
    end(): Rollout {
      const [date = '', time = ''] = new Date(begins).toISOString().slice(0, 19).split('T')
      const name = `${date.replaceAll('-', '/')}/rollout-${date}T${time.replaceAll(':', '-')}-${thread}.jsonl`
      return { name, text: lines.map((one) => `${one}\n`).join('') }
    },
  }
}
