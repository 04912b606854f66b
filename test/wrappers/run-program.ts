/** One program of this folder, run against the provider, and what was recorded of it held against what was billed. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openArchive } from '../../src/archive/archive.ts'
import { readSession } from '../../src/archive/read-session.ts'
import type { Entry } from '../../src/transcript/entry.ts'
import type { Session } from '../../src/transcript/session.ts'
import { compare, parseLedger } from '../clients/ledger.ts'
import { startProvider } from '../clients/provider.ts'
import { PLAYS } from './plays.ts'

export type Outcome = { readonly summary: string; readonly problems: readonly string[] }

const PROGRAM_MS = 180_000

export async function runProgram(name: string, folder: string): Promise<Outcome> {
  const archive = join(folder, `archive-${name}`)
  const ledger = join(folder, `ledger-${name}.jsonl`)
  mkdirSync(archive, { recursive: true })
  const provider = await startProvider({ plays: PLAYS, ledger })
  const { code, said } = await run(name, folder, { PROVIDER: provider.url, ARCHIVE: archive })
  await provider.close()
  const problems = code === 0 ? [] : [`ended with ${code}: ${said.slice(-1500)}`]
  const complaints = said.split('\n').filter((line) => line.startsWith('complaint: '))
  const sessions = await readAll(archive)
  const rows = existsSync(ledger) ? parseLedger(readFileSync(ledger, 'utf8')) : []
  const listed = sessions.map(({ session: { totals } }) => ({
    ...(totals && { calls: totals.calls }),
    ...(totals?.usage && { usage: totals.usage }),
  }))
  const { differences, hansard, calls } = compare(rows, () => true, listed)
  const entries = sessions.flatMap((one) => one.entries)
  // A program that has a provider of its own compares by itself.
  const isOwn = rows.length === 0 && sessions.length > 0
  return {
    summary: isOwn
      ? `${calls} calls, as the SDKs put them together`
      : `${sessions.length} sessions, ${calls} of ${rows.length} calls, input ${hansard.input}, cache read ${hansard.cacheRead}, output ${hansard.output}`,
    problems: [
      ...problems,
      ...complaints,
      ...(isOwn ? [] : [...differences, ...unpaired(entries)]),
      ...(sessions.length === 0 ? ['nothing was recorded'] : []),
    ],
  }
}

/** Each call of a tool is recorded once, and so is what it gave. */
function unpaired(entries: readonly Entry[]): readonly string[] {
  const calls = new Map<string, number>()
  const results = new Map<string, number>()
  for (const { blocks } of entries)
    for (const block of blocks) {
      if (block.type !== 'tool-call' && block.type !== 'tool-result') continue
      const counts = block.type === 'tool-call' ? calls : results
      counts.set(block.callId ?? '', (counts.get(block.callId ?? '') ?? 0) + 1)
    }
  return [...new Set([...calls.keys(), ...results.keys()])]
    .filter((id) => calls.get(id) !== 1 || results.get(id) !== 1)
    .map((id) => `tool ${id}: ${calls.get(id) ?? 0} calls, ${results.get(id) ?? 0} results`)
}

async function readAll(home: string): Promise<readonly { session: Session; entries: readonly Entry[] }[]> {
  const archive = openArchive(home)
  const ids = existsSync(join(home, 'sessions')) ? readdirSync(join(home, 'sessions')) : []
  return Promise.all(
    ids.map(async (id) => {
      let session: Session | undefined
      const entries: Entry[] = []
      for await (const items of readSession(archive, id))
        for (const item of items) {
          if (item.type === 'entry') entries.push(item.entry)
          if (item.type === 'session') session = item.session
        }
      if (session === undefined) throw new Error(`session ${id} cannot be read`)
      return { session, entries }
    }),
  )
}

function run(
  name: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly said: string }> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [name], {
      cwd,
      env: { ...process.env, ...env },
      timeout: PROGRAM_MS,
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    child.on('close', (code) => done({ code, said }))
  })
}
