// The `@anthropic-ai/claude-agent-sdk` package in homes of its own, which are removed as soon as a run is over: a tool, a subagent.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as sdk from '@anthropic-ai/claude-agent-sdk'
import { record } from 'hansard/claude-agent-sdk'
import { base, options, same } from './shared.mjs'

for (const play of ['shell', 'subagent']) {
  const home = mkdtempSync(join(tmpdir(), 'hansard-isolated-'))
  const query = record(sdk.query, { ...options, homes: [home] })
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_BASE_URL: base,
    ANTHROPIC_API_KEY: 'sk-ant-test',
    DISABLE_TELEMETRY: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    IS_SANDBOX: '1',
  }
  let stopped = 0
  const hooks = { Stop: [{ hooks: [async () => ((stopped += 1), {})] }] }
  let result
  const run = query({
    prompt: `play:${play}`,
    options: { env, cwd: home, model: 'claude-opus-5-5', allowedTools: ['Bash', 'Task', 'Agent'], hooks },
  })
  for await (const message of run) if (message.type === 'result') result = message
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  same([result.subtype, stopped > 0], ['success', true])
}
