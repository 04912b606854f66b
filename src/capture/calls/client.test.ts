import { describe, expect, it } from 'vitest'
import { clientOf } from './client.ts'

const ID = '6c1c06d3-3ba1-41aa-8984-fe6486c5dee8'

describe('clientOf', () => {
  it('knows Claude Code’s conversation by its header, and by what its requests said before there was one', () => {
    const headers = { 'user-agent': 'claude-cli/2.1.197 (external, sdk-cli)' }
    const native = { agent: 'claude-code', sessionId: ID }
    expect(clientOf({ ...headers, 'x-claude-code-session-id': ID }, null)).toEqual({
      agent: 'claude-code',
      version: '2.1.197',
      native,
    })
    const old = { metadata: { user_id: `user_abc_account__session_${ID}` } }
    expect(clientOf(headers, old).native).toEqual(native)
    const now = { metadata: { user_id: JSON.stringify({ device_id: 'x', session_id: ID }) } }
    expect(clientOf(headers, now).native).toEqual(native)
  })

  it('knows Codex’s by the thread, which its rollout is named after', () => {
    const headers = { 'user-agent': 'codex_exec/0.166.0 (Debian)', 'session-id': 'parent', 'thread-id': ID }
    expect(clientOf(headers, null).native).toEqual({ agent: 'codex', sessionId: ID })
    expect(clientOf({ 'user-agent': 'codex_cli_rs/0.40.0' }, { prompt_cache_key: ID }).native).toEqual({
      agent: 'codex',
      sessionId: ID,
    })
  })

  it('knows OpenCode’s by the header that it sends to any provider', () => {
    const headers = { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.46 runtime/bun/1.3.14' }
    const native = { agent: 'opencode', sessionId: 'ses_e0c2c27b0ffeOK08J3kZYC025O' }
    const sessionId = native.sessionId
    expect(clientOf({ ...headers, 'x-session-id': sessionId }, null).native).toEqual(native)
    expect(clientOf({ ...headers, 'x-opencode-session': sessionId }, null).native).toEqual(native)
  })

  it('names only agents that it knows: a library or a runtime is none', () => {
    for (const agent of [
      'OpenAI/JS 6.1.0',
      'Anthropic/JS 0.60.0',
      'ai-sdk/anthropic/2.0.1',
      'node-fetch',
      'node',
    ])
      expect(clientOf({ 'user-agent': agent }, null)).toEqual({})
    expect(clientOf({}, null)).toEqual({})
    expect(clientOf({ 'user-agent': 'QwenCode/0.24.4 (linux; x64)' }, null)).toEqual({
      agent: 'qwen',
      version: '0.24.4',
    })
  })

  it('takes no id that could be anything but one', () => {
    for (const bad of ['../../etc/passwd', 'a b', '', 'x'.repeat(200), 'a\u0000b'])
      expect(
        clientOf({ 'user-agent': 'claude-cli/1', 'x-claude-code-session-id': bad }, null).native,
      ).toBeUndefined()
  })

  it('says how often it has asked before', () => {
    expect(clientOf({ 'x-stainless-retry-count': '2' }, null).retry).toBe(2)
    expect(clientOf({ 'x-stainless-retry-count': '0' }, null).retry).toBeUndefined()
  })
})
