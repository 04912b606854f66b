/** The proxy killed in the middle of streams, as a power cut or a user would. */
import { spawn, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import type { Entry } from '../src/transcript/entry.ts'
import { UNFINISHED } from '../src/journal/unanswered.ts'
import { asObject, type Json } from '../src/transcript/json.ts'
import type { Proof } from './byte-proofs.ts'
import { BIN } from './program.ts'
import { answerOf, ask, sessionsIn, startProvider } from './proxy-provider.ts'

/**
 * Kills the recorder in the middle of streams, which never end by themselves: what was in a journal before is there, every call was as
 * soon as it was asked, and those that were open say that they were interrupted, in a session that says so too, with what had been put
 * beside it of their answers.
 */
export async function proveProxyKills(kills: number): Promise<Proof> {
  const broken: string[] = []
  let acknowledged = 0
  let interrupted = 0
  let begun = 0
  for (let kill = 0; kill < kills; kill += 1) {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'proxy-kill-'))
    const provider = await startProvider({ everyMs: 10 })
    const { child, url, exited } = await startProgram(home, provider.url)
    if ((await ask(url, 0)) !== answerOf(0).body) broken.push(`kill ${kill}: the client got something else`)
    const open = [1, 3, 5].map((call) => ask(url, call).catch(() => 'broken off'))
    const isThere = await isJournalled(
      home,
      (text) => text.includes('answer 0') && count(text, STARTED) === 4,
    )
    if (!isThere) broken.push(`kill ${kill}: what was asked is not in a journal`)
    // Words are put beside a session a few times a second: every fifth is killed after that.
    if (kill % 5 === 4 && !(await isTrue(() => count(allOf(unfinishedIn(home)), 'word 0') >= 3)))
      broken.push(`kill ${kill}: nothing of what is being answered is there`)
    await pause(kill % 40)
    const before = journalsIn(home)
    const words = unfinishedIn(home)
    child.kill('SIGKILL')
    await exited
    if ((await Promise.all(open)).some((one) => one !== 'broken off'))
      broken.push(`kill ${kill}: it was over before it was killed`)
    const after = journalsIn(home)
    for (const [name, text] of before)
      if (!after.get(name)?.startsWith(text)) broken.push(`kill ${kill}: ${name} lost what it had`)
    const { statuses, entries } = await sessionsIn(home)
    acknowledged += entries.length
    if (statuses.some((status) => status !== 'interrupted'))
      broken.push(`kill ${kill}: sessions are ${statuses.join(', ')}`)
    const calls = entries.filter(({ metadata }) => metadata?.['record'] === 'call-started')
    const marked = new Set(
      entries
        .filter(({ blocks: [block] }) => block?.type === 'error' && block.code === 'interrupted')
        .map(({ metadata }) => metadata?.['call']),
    )
    const cutOff = calls.filter((call) => marked.has(idOf(call)))
    const said = entries.filter(
      ({ role, metadata }) => role === 'assistant' && marked.has(metadata?.['call']),
    )
    begun += said.length
    for (const text of [...allOf(words).matchAll(/word 0 (?:word 1 )*/g)].map(([match]) => match))
      if (!textsOf(said, 'assistant').some((one) => one.startsWith(text)))
        broken.push(`kill ${kill}: what had come of an answer is not there`)
    interrupted += cutOff.length
    if (calls.length !== 4 || cutOff.length !== 3)
      broken.push(`kill ${kill}: of ${calls.length} calls ${cutOff.length} say that they were interrupted`)
    const questions = textsOf(entries, 'user')
    for (const asked of [0, 1, 3, 5])
      if (!questions.includes(`question ${asked}`))
        broken.push(`kill ${kill}: question ${asked} is not there`)
    await provider.close()
    fs.rmSync(home, { recursive: true, force: true })
  }
  return {
    name: 'recorders killed in a stream',
    tried: kills,
    counts: {
      'entries kept': acknowledged,
      'calls marked as interrupted': interrupted,
      'with words of their answer': begun,
    },
    broken,
  }
}

const STARTED = '"record":"call-started"'

function idOf({ blocks: [block] }: Entry): Json | undefined {
  return block?.type === 'unknown' ? asObject(block.raw)?.['call'] : undefined
}

function count(text: string, part: string): number {
  return text.split(part).length - 1
}

function textsOf(entries: readonly Entry[], wanted: string): string[] {
  return entries.flatMap(({ role, blocks }) =>
    role === wanted
      ? blocks.map((block) => (block.type === 'text' && typeof block.text === 'string' ? block.text : ''))
      : [],
  )
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms))
}

type Program = {
  readonly child: ChildProcess
  readonly url: string
  readonly exited: Promise<unknown>
}

/** The built program, as it is started by hand. */
async function startProgram(home: string, upstream: string): Promise<Program> {
  const args = [BIN, 'proxy', '--home', home, '--upstream', `anthropic=${upstream}`]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = new Promise((done) => child.on('exit', done))
  const url = await new Promise<string>((done, failed) => {
    child.stdout.once('data', (line) => done(String(line).trim()))
    child.on('exit', () => failed(new Error('the proxy did not start')))
  })
  return { child, url, exited }
}

/** Far above what it takes: a machine may be busy. */
const PATIENCE_MS = 60_000

function isJournalled(home: string, isEnough: (text: string) => boolean): Promise<boolean> {
  return isTrue(() => isEnough(allOf(journalsIn(home))))
}

async function isTrue(look: () => boolean): Promise<boolean> {
  const until = performance.now() + PATIENCE_MS
  while (performance.now() < until) {
    if (look()) return true
    await pause(2)
  }
  return false
}

function allOf(files: ReadonlyMap<string, string>): string {
  return [...files.values()].join('\n')
}

function journalsIn(home: string): Map<string, string> {
  return filesIn(home, (name) => name.startsWith('journal-'))
}

function unfinishedIn(home: string): Map<string, string> {
  return filesIn(home, (name) => name === UNFINISHED)
}

function filesIn(home: string, isWanted: (name: string) => boolean): Map<string, string> {
  const files = new Map<string, string>()
  const sessions = join(home, 'sessions')
  for (const session of fs.existsSync(sessions) ? fs.readdirSync(sessions) : [])
    for (const name of fs.readdirSync(join(sessions, session)))
      if (isWanted(name))
        files.set(join(session, name), fs.readFileSync(join(sessions, session, name), 'utf8'))
  return files
}
