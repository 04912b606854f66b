/** A format's change shows on the day it happens: what its reader knows says nothing, what it does not is told by name. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
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
