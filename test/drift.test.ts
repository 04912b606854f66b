/** A format's change shows on the day it happens: what its reader knows says nothing, what it does not is told by name. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claudeCode } from '../src/formats/claude-code.ts'
import { codex } from '../src/formats/codex.ts'
import type { Drift, Format } from '../src/formats/format.ts'
import { geminiCli } from '../src/formats/gemini-cli.ts'
import { pi } from '../src/formats/pi.ts'
import { openSource } from '../src/sources/open.ts'
import type { Json } from '../src/transcript/json.ts'
import type { Source } from '../src/transcript/source.ts'
import { filesBelow } from './coverage.ts'
import { memoryFileSource } from './memory-files.ts'
import { tortureCases } from './torture/cases.ts'
import { toLines } from './torture/case.ts'

async function driftOf(format: Format, source: Source): Promise<Drift[]> {
  const told: Drift[] = []
  for await (const _ of format.read(source, { drift: (drift) => told.push(drift) })) continue
  return told
}
const inLines = (...lines: readonly Json[]): Source => memoryFileSource('x.jsonl', toLines(...lines))
const formats = [codex, pi, geminiCli]

describe('drift', () => {
  it('says nothing of what the formats are known to write', async () => {
    for (const { format: id, files } of tortureCases) {
      const format = formats.find((one) => one.id === id)
      if (format === undefined) continue
      for (const text of Object.values(files))
        expect(await driftOf(format, memoryFileSource('x', text))).toEqual([])
    }
  })

  it('names new lines, things in them, keys and parts of codex, with its version', async () => {
    const line = (type: string, payload: Json): Json => ({ timestamp: '2026-02-10T10:00:00Z', type, payload })
    const version = '9.0.0'
    const source = inLines(
      line('session_meta', { id: 't', timestamp: '2026-02-10T10:00:00Z', cwd: '/', cli_version: version }),
      line('event_msg', { type: 'dream', about: 'sheep' }),
      line('event_msg', { type: 'token_count', info: null, mood: 1 }),
      line('response_item', { type: 'message', role: 'user', content: [{ type: 'smell' }] }),
      line('prophecy', {}),
    )
    expect(await driftOf(codex, source)).toEqual([
      { kind: 'record', name: 'event_msg/dream', version },
      { kind: 'key', name: 'event_msg/token_count.mood', version },
      { kind: 'block', name: 'smell', version },
      { kind: 'record', name: 'prophecy', version },
    ])
  })

  it('names new keys of blocks, and those in a block and among the counts, of claude-code', async () => {
    const version = '9.0.0'
    const common = { sessionId: 's', uuid: 'u', parentUuid: null, userType: 'external', version }
    const usage = {
      input_tokens: 1,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1w_input_tokens: 2 },
      server_tool_use: { web_search_requests: 0, dream_requests: 1 },
      output_tokens_details: { thinking_tokens: 1, musing_tokens: 2 },
      iterations: [{ input_tokens: 1, mood: 1, cache_creation: { ephemeral_2h_input_tokens: 1 } }],
    }
    const content = [
      { type: 'text', text: 'a', smell: 1 },
      { type: 'tool_use', id: 'c', name: 'Read', input: { anything: 1 } },
      { type: 'hologram', data: '' },
    ]
    const result = {
      type: 'tool_result',
      tool_use_id: 'c',
      content: [{ type: 'text', text: 'b', hue: 1 }, { type: 'scent' }],
    }
    const told = await driftOf(
      claudeCode,
      inLines(
        { ...common, type: 'assistant', message: { id: 'm', role: 'assistant', model: 'm', content, usage } },
        { ...common, type: 'user', message: { role: 'user', content: [result] } },
      ),
    )
    expect(told.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'key usage/cache_creation.ephemeral_1w_input_tokens',
      'key usage/server_tool_use.dream_requests',
      'key usage/output_tokens_details.musing_tokens',
      'key usage/iteration.mood',
      'key usage/cache_creation.ephemeral_2h_input_tokens',
      'key block/text.smell',
      'block hologram',
      'key block/text.hue',
      'block scent',
    ])
    expect(new Set(told.map((one) => one.version))).toEqual(new Set([version]))
  })

  it('names new keys of parts in codex, pi and gemini-cli', async () => {
    const header = { sessionId: 's', projectHash: 'p', startTime: '2026-02-10T10:00:00Z' }
    const at = '2026-02-10T10:00:00Z'
    const part = { type: 'input_text', text: 'a', smell: 1 }
    const sources: readonly (readonly [Format, Source, string])[] = [
      [
        codex,
        inLines({
          timestamp: at,
          type: 'response_item',
          payload: { type: 'message', role: 'user', content: [part] },
        }),
        'block/input_text.smell',
      ],
      [
        pi,
        inLines(
          { type: 'session', version: 3, id: 's', timestamp: at, cwd: '/' },
          {
            type: 'message',
            id: 'a',
            message: {
              role: 'assistant',
              content: [{ type: 'text', text: 'a', smell: 1 }],
              usage: { cost: { tip: 1 } },
            },
          },
        ),
        'counts/cost.tip block/text.smell',
      ],
      [
        geminiCli,
        inLines(header, {
          id: 'm',
          timestamp: at,
          type: 'gemini',
          content: [{ functionCall: { name: 'n', args: {}, smell: 1 } }],
        }),
        'block/functionCall.smell',
      ],
    ]
    for (const [format, source, expected] of sources)
      expect((await driftOf(format, source)).map(({ name }) => name).join(' ')).toBe(expected)
  })

  it('names new lines, roles, keys and parts of pi', async () => {
    const told = await driftOf(
      pi,
      inLines(
        { type: 'session', version: 4, id: 's', timestamp: '2026-02-10T10:00:00Z', cwd: '/' },
        { type: 'message', id: 'a', message: { role: 'user', content: [{ type: 'smell' }], mood: 1 } },
        { type: 'message', id: 'b', message: { role: 'ghost' } },
        { type: 'dream', id: 'c' },
      ),
    )
    expect(told.map(({ kind, name, version }) => `${kind} ${name} ${version}`)).toEqual([
      'key message/user.mood 4',
      'block smell 4',
      'record message/ghost 4',
      'record dream 4',
    ])
  })

  it('names new messages, keys and parts of gemini-cli, in documents and in logs', async () => {
    const header = { sessionId: 's', projectHash: 'p', startTime: '2026-02-10T10:00:00Z', mood: 1 }
    const message = { id: 'm', timestamp: '2026-02-10T10:00:00Z', type: 'gemini', content: [{ smell: 1 }] }
    const dream = { id: 'd', timestamp: '2026-02-10T10:00:00Z', type: 'dream', content: '' }
    const expected = ['key header.mood', 'block smell', 'record dream']
    const document = memoryFileSource('x.json', JSON.stringify({ ...header, messages: [message, dream] }))
    for (const source of [document, inLines(header, message, dream)]) {
      const told = await driftOf(geminiCli, source)
      expect(told.map(({ kind, name }) => `${kind} ${name}`)).toEqual(expected)
    }
  })

  it('says nothing of the real files that stand by', async () => {
    const corpus = process.env['HANSARD_CORPUS'] ?? resolve(import.meta.dirname, '../../shared/corpus')
    for (const format of formats) {
      const folder = join(corpus, format.id)
      for (const path of existsSync(folder) ? filesBelow(folder) : [])
        expect(await driftOf(format, await openSource(path))).toEqual([])
    }
  })
})
