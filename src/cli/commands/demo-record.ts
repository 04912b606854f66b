/** `hansard demo --record`: records a small session live, in all five formats, and says where everything went and what it cost. */
import { mkdtempSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { openArchive } from '../../archive/archive.ts'
import { record } from '../../capture/record.ts'
import { markedTokens, sessionCost } from '../../replay/amounts.ts'
import { toCount } from '../../transcript/counted.ts'
import { visibleLine } from '../../replay/escape.ts'
import type { Session } from '../../transcript/session.ts'
import { playDemo } from '../demo/recorded-story.ts'
import { FAILED, note, out as print, outJson } from '../print.ts'
import { programName } from '../program-name.ts'

export type RecordDemoOptions = { readonly out?: string; readonly json?: boolean }

const FORMATS = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm']

export async function recordDemo({ out, json = false }: RecordDemoOptions): Promise<void> {
  const folder = out === undefined ? mkdtempSync(join(tmpdir(), 'hansard-demo-')) : resolve(out)
  const home = join(folder, 'archive')
  // A recorder would go on without an archive; here it is all there is to see.
  openArchive(home, { write: true })
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
    onFailure({ message }) {
      process.exitCode = FAILED
      note(`hansard: ${message}`)
    },
  })
  playDemo(recorder)
  const session = await recorder.end({ stopReason: 'end_turn' })
  const files = filesBelow(folder).map((path) => ({ path, bytes: statSync(path).size }))
  if (json) await outJson({ session, home, files })
  else await print(`${describe(session, { folder, home, files }).map(visibleLine).join('\n')}\n`)
}

type Recorded = {
  readonly folder: string
  readonly home: string
  readonly files: readonly { readonly path: string; readonly bytes: number }[]
}

function describe(session: Session, { folder, home, files }: Recorded): readonly string[] {
  const { id, totals } = session
  const tokens = markedTokens(session)
  const hansard = programName()
  return [
    `Recorded a session of ${totals?.entries} entries and ${totals?.toolCalls} tool calls, live, into`,
    `  ${folder}`,
    '',
    ...files.map(({ path, bytes }) => `  ${String(bytes).padStart(7)}  ${relative(folder, path)}`),
    '',
    `Tokens: ${tokens.in} in (${toCount(totals?.usage?.cacheRead)} from the cache) / ${tokens.out} out`,
    `Cost:   ${sessionCost(session)} in ${totals?.calls} calls`,
    '',
    'Look at it:',
    `  ${hansard} show ${id} --home ${home}`,
    `  ${hansard} show ${id} --home ${home} --mode summary`,
    `  ${hansard} convert ${id} --home ${home} --to devflow --out ${join(folder, 'converted')}`,
    `  jq -c . ${join(home, 'sessions', id)}/journal-*.jsonl`,
  ]
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((file) => (file.isDirectory() ? filesBelow(join(folder, file.name)) : [join(folder, file.name)]))
}
