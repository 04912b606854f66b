/**
 * An archive in which every field that somebody else fills is hostile: sessions whose title, agent, model, project and branch are some
 * payloads, with each of them by itself in tools, files, inputs, outputs, thoughts and metadata; and for each a step of a run whose
 * flow, step, agent, engine and receipt it is.
 */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { openArchive, type Archive } from '../src/archive/archive.ts'
import { record, type Recorder } from '../src/capture/record.ts'
import { startServer, type RunningServer, type StartOptions } from '../src/server/start.ts'
import { sync } from '../src/sources/sync.ts'
import { HOSTILE } from './hostile-payloads.ts'

export const HOSTILE_RUN = 'run-20251201-100000-hostil'
/** In every session, beside the payload: what is searched for. */
export const NEEDLE = 'needle'

export type ServedHostile = {
  readonly server: RunningServer
  readonly archive: Archive
  /** Sessions, of some payloads each. */
  readonly ids: readonly string[]
  /** Content whose bytes are all payloads, as a page would have them. */
  readonly blob: string
  close(): Promise<void>
}

export async function serveHostile(options: StartOptions = {}): Promise<ServedHostile> {
  const root = fs.mkdtempSync(join(os.tmpdir(), 'hansard-hostile-'))
  const home = join(root, 'home')
  const ids: string[] = []
  for (let at = 0; at < HOSTILE.length; at += TOGETHER)
    ids.push(await recordHostile(home, HOSTILE.slice(at, at + TOGETHER), at))
  leaveReceipts(join(root, 'swarm/runs', HOSTILE_RUN, 'build'))
  const archive = openArchive(home, { write: true })
  const here = { userHome: root, env: {}, cwd: root }
  await sync(archive, here)
  const { blob } = archive.blobs.write(Buffer.from(HOSTILE.join('\n')), 'text/html')
  const server = await startServer(archive, { port: 0, follow: false, sync: here, ...options })
  return {
    server,
    archive,
    ids,
    blob,
    async close() {
      await server.close()
      fs.rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Payloads of one session: opening one takes a browser longer than showing some more. */
const TOGETHER = 16

async function recordHostile(home: string, payloads: readonly string[], at: number): Promise<string> {
  const text = payloads.join(' ')
  // Some days apart, so that each has a bar of its own in charts.
  let now = Date.UTC(2026, 10, 14) - at * 3_600_000
  const session = await record({
    home,
    cwd: `/work/${text}`,
    title: text,
    agent: text,
    model: text,
    version: text,
    mode: text,
    node: text,
    chat: text,
    git: { branch: text, commit: text, remote: text },
    native: { agent: text, sessionId: `${at} ${text}` },
    tags: { [text]: text },
    input: { [text]: text },
    durability: 'os',
    redact: false,
    now: () => (now += 1000),
  })
  for (const [number, payload] of payloads.entries()) sayAll(session, payload, at + number)
  session.error(new Error(text))
  const { id } = await session.fail(new Error(text), { stopReason: text })
  return id
}

/** One payload wherever an entry can have it. */
function sayAll(session: Recorder, text: string, at: number): void {
  const said = {
    model: text,
    stopReason: text,
    metadata: { [text]: text, record: text },
    usage: { input: 1000, output: 100, raw: { [text]: text } },
  }
  session.user(`${NEEDLE} ${text} and after`, { metadata: { [text]: text } })
  session.assistant(
    [
      { type: 'thinking', text, signature: text },
      { type: 'text', text: `before\n\n${text}\n\nafter` },
    ],
    { ...said, call: { messageId: `message ${at}`, requestId: text, provider: text } },
  )
  for (const [name, input] of toolsOf(text)) {
    const callId = session.toolCall({ name, input, callId: `${name} ${at}` })
    session.toolResult({ callId, name, output: text, error: text, isError: true })
  }
  session.toolCall({ name: text, input: text })
  session.message('user', [
    { type: 'image', url: text, mediaType: text },
    { type: 'image', data: text, mediaType: 'image/svg+xml' },
    { type: 'image', data: 'aGk=', mediaType: text },
    { type: 'unknown', raw: { [text]: text }, reason: text },
  ])
  session.event(text, { [text]: text })
  session.subagent(`x${at}`).assistant(`${text} from a subagent`, said)
}

function toolsOf(
  text: string,
): readonly (readonly [name: string, input: { readonly [key: string]: string }])[] {
  return [
    [text, { command: text, [text]: text }],
    ['Bash', { command: text, description: text }],
    ['Edit', { file_path: text, old_string: text, new_string: `${text}!` }],
    ['Write', { file_path: text, content: text }],
    ['Read', { file_path: text }],
    ['Grep', { pattern: text, path: text }],
    ['WebFetch', { url: text, prompt: text }],
    ['Task', { description: text, prompt: text, subagent_type: text }],
  ]
}

function leaveReceipts(flow: string): void {
  fs.mkdirSync(join(flow, 'llm'), { recursive: true })
  fs.mkdirSync(join(flow, 'receipts'), { recursive: true })
  HOSTILE.forEach((text, at) => {
    const time = (second: number): string =>
      new Date(Date.UTC(2025, 11, 1) + (at * 10 + second) * 1000).toISOString()
    const file = `step${at}-agent`
    const receipt = {
      engine: text,
      model: text,
      step_id: text,
      flow_key: text,
      run_id: HOSTILE_RUN,
      agent_key: text,
      started_at: time(0),
      completed_at: time(5),
      duration_ms: 5000,
      status: text,
      tokens: { prompt: 10, completion: 1, total: 11 },
      transcript_path: `llm/${file}-claude.jsonl`,
      error: text,
      [text]: text,
    }
    const lines = [
      { timestamp: time(0), role: 'user', content: `${NEEDLE} ${text}` },
      { timestamp: time(1), role: 'tool', tool_name: text, tool_input: { [text]: text }, tool_output: text },
      { timestamp: time(2), role: 'assistant', content: text },
    ]
    fs.writeFileSync(
      join(flow, 'llm', `${file}-claude.jsonl`),
      lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    )
    fs.writeFileSync(join(flow, 'receipts', `${file}.json`), JSON.stringify(receipt))
  })
}
