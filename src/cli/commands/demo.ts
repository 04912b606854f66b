/** `hansard demo`: records a small session live, in all five formats, and says where everything went and what it cost. */
import { mkdirSync, mkdtempSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { record } from '../../capture/record.ts'
import type { Session } from '../../transcript/session.ts'
import { playDemo } from '../demo-session.ts'
import { toJson } from '../../transcript/json.ts'
import { out as print } from '../print.ts'

export type DemoOptions = { readonly out?: string; readonly json?: boolean }

const FORMATS = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm']

export async function demo({ out, json = false }: DemoOptions): Promise<void> {
  const folder = out === undefined ? mkdtempSync(join(tmpdir(), 'hansard-demo-')) : resolve(out)
  mkdirSync(folder, { recursive: true })
  const home = join(folder, 'archive')
  const recorder = await record({
    home,
    cwd: folder,
    formats: FORMATS,
    title: 'Login page shows "undefined"',
    agent: 'demo-agent',
    model: 'claude-sonnet-4-5',
    flow: 'fix-bug',
    step: 'investigate',
    agentKey: 'engineer',
    engine: 'claude',
    identifier: 'TK-421',
    thread: 'thread-demo',
    chat: 'chat-demo',
    mode: 'agent',
    version: '1.0.0',
    input: { ticketId: 'TK-421' },
  })
  playDemo(recorder)
  const session = await recorder.end({ stopReason: 'end_turn' })
  const files = filesBelow(folder).map((path) => ({ path, bytes: statSync(path).size }))
  await print(
    json ? `${toJson({ session, home, files }, 2)}\n` : `${describe(session, folder, home, files)}\n`,
  )
}

function describe(
  session: Session,
  folder: string,
  home: string,
  files: readonly { path: string; bytes: number }[],
): string {
  const { totals } = session
  const usage = totals?.usage
  const read = (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite5m ?? 0)
  const lines = [
    `Recorded a session of ${totals?.entries} entries and ${totals?.toolCalls} tool calls, live, into`,
    `  ${folder}`,
    '',
    ...files.map(({ path, bytes }) => `  ${String(bytes).padStart(7)}  ${relative(folder, path)}`),
    '',
    `Tokens: ${read.toLocaleString('en')} in (${(usage?.cacheRead ?? 0).toLocaleString('en')} from the cache) / ${(usage?.output ?? 0).toLocaleString('en')} out`,
    `Cost:   $${totals?.cost?.usd} in ${totals?.calls} calls`,
    '',
    'Look at it:',
    `  node dist/bin/hansard.js show ${session.id} --home ${home}`,
    `  node dist/bin/hansard.js show ${session.id} --home ${home} --mode summary`,
    `  node dist/bin/hansard.js convert ${session.id} --home ${home} --to devflow --out /tmp/elsewhere`,
    `  jq -c . ${join(home, 'sessions', session.id)}/journal-*.jsonl`,
  ]
  return lines.join('\n')
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((file) => (file.isDirectory() ? filesBelow(join(folder, file.name)) : [join(folder, file.name)]))
}
