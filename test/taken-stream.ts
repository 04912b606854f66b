/** A stream taken into an archive of its own, and what was recorded of it. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { record } from '../src/capture/record.ts'
import type { StreamName } from '../src/capture/streams/stream.ts'
import { takeStream, type StreamTaken } from '../src/capture/streams/take-stream.ts'
import type { Entry } from '../src/transcript/entry.ts'
import { asString } from '../src/transcript/json.ts'
import type { Session } from '../src/transcript/session.ts'

const roots: string[] = []

/** Archives that streams were taken into. */
export function removeTaken(): void {
  for (const root of roots.splice(0)) fs.rmSync(root, { recursive: true, force: true })
}

type Recorded = StreamTaken & { readonly entries: readonly Entry[]; readonly home: string }

async function* chunked(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export async function take(name: StreamName, lines: readonly unknown[], size = 1 << 20): Promise<Recorded> {
  const home = fs.mkdtempSync(join(os.tmpdir(), 'hansard-streams-'))
  roots.push(home)
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const taken = await takeStream(name, chunked(Buffer.from(`${text}\n`), size), {
    open: (said) =>
      record({ ...said, home, cwd: home, durability: 'os', capture: { subagents: 'all' }, onFailure: fail }),
  })
  return { ...taken, entries: taken.sessions.flatMap(({ id }) => entriesOf(home, id)), home }
}

function fail({ message }: { readonly message: string }): void {
  throw new Error(message)
}

function entriesOf(home: string, id: string): readonly Entry[] {
  const folder = join(home, 'sessions', id)
  const lines = fs
    .readdirSync(folder)
    .flatMap((name) => fs.readFileSync(join(folder, name), 'utf8').split('\n'))
  return lines
    .filter((line) => line.includes('"t":"entry"'))
    .map((line) => (JSON.parse(line) as { readonly entry: Entry }).entry)
}

/** Source, role or record, and what is in it. */
export function outline(entries: readonly Entry[]): readonly string[] {
  return entries.map(({ source, role, metadata, blocks }) => {
    const said = blocks.map((block) => {
      if (block.type === 'text' || block.type === 'thinking')
        return `${block.type}:${JSON.stringify(block.text).slice(1, -1)}`
      if (block.type === 'tool-call') return `call:${block.name}`
      if (block.type === 'tool-result') return `result:${block.name ?? '?'}${block.isError ? '!' : ''}`
      return block.type
    })
    return `${source} ${role ?? asString(metadata?.['record']) ?? 'error'} ${said.join(',')}`
  })
}

export const only = ({ sessions }: StreamTaken): Session => {
  expect(sessions).toHaveLength(1)
  return sessions[0] as Session
}
