/**
 * `npm run bench -- proxy`: what the recording proxy costs a call, turn about with a direct connection, with the least that anybody could
 * put in between, and with another gateway, to the same provider in a process of its own.
 */
import { spawnSync, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DelaySummary } from '../src/capture/proxy/delay.ts'
import type { Bench } from './bench.ts'
import { BIN, rssOf } from './built-server.ts'
import { atLeast, atMost, quantile, shown, type Result } from './measure.ts'
import { startPortkey } from './portkey.ts'
import { PARTS, start } from './proxy-processes.ts'
import { burstDelays, chunkRow, modelDelays, startModel } from './proxy-chunks.ts'
import { ask, made, rate, type Way, type Ways } from './proxy-load.ts'

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-proxy-'))
  const home = join(folder, 'home')
  const children: ChildProcess[] = []
  const model = await startModel()
  try {
    const direct = await start(children, [PARTS, 'provider'])
    const bare = await start(children, [PARTS, 'bare-provider'])
    const tee = await start(children, [PARTS, 'tee', direct, join(folder, 'tee.log')])
    const bareTee = await start(children, [PARTS, 'tee', bare, join(folder, 'tee.log')])
    const modelTee = await start(children, [PARTS, 'tee', model.url, join(folder, 'tee.log')])
    const upstreams = Object.entries({ anthropic: direct, bare, model: model.url })
      .map(([name, url]) => ['--upstream', `${name}=${url}`])
      .flat()
    const ours = await start(children, [BIN, 'proxy', '--home', home, ...upstreams])
    const recorder = children.at(-1) as ChildProcess
    const portkey = await startPortkey(join(folder, 'portkey'), direct)
    if (portkey !== undefined) children.push(portkey.child)
    else console.error('no registry: @portkey-ai/gateway is not measured')
    const ways: Ways = { direct: { url: direct }, tee: { url: tee }, ours: { url: ours } }
    const all: Ways = portkey === undefined ? ways : { ...ways, portkey }
    const rounds = quick ? 200 : 2000
    const results: Result[] = []
    for (const [name, size] of [
      ['2 KB', 2000],
      ['200 KB', 200_000],
    ] as const) {
      const some = size > 10_000 ? Math.ceil(rounds / 4) : rounds
      for (const [what, chunks] of [
        ['JSON', 0],
        ['first byte of a stream', 5],
      ] as const) {
        const times = await latencies(all, some, size, chunks)
        results.push(...latencyRows(`${what}, ${name} asked`, times, portkey?.version))
      }
    }
    const models: Ways = { direct: model, tee: { url: modelTee }, ours: { url: `${ours}/model` } }
    results.push(
      chunkRow(await modelDelays(models, quick ? 5 : 21), await burstDelays(models, quick ? 1000 : 3000)),
    )
    results.push(await ownRow(ours))
    const bareWays: Ways = { direct: { url: bare }, tee: { url: bareTee }, ours: { url: `${ours}/bare` } }
    results.push(await rateRow(bareWays, quick ? 1500 : 6000, home))
    results.push(await manyStreams({ url: ours }, recorder, home, quick))
    results.push(...(await nothingLost(folder, home, recorder, made.get(ours) ?? 0)))
    return results
  } finally {
    model.close()
    for (const child of children) child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

type Times = Readonly<Record<string, readonly number[]>>

async function latencies(ways: Ways, rounds: number, size: number, chunks: number): Promise<Times> {
  const times: Record<string, number[]> = {}
  for (let round = -50; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const { firstMs, ms } = await ask(way, size, { chunks })
      if (round >= 0) (times[name] ??= []).push(chunks > 0 ? firstMs : ms)
    }
  }
  return times
}

function latencyRows(name: string, times: Times, version: string | undefined): Result[] {
  const at = (way: string, part: number): number => quantile(times[way] ?? [], part)
  const added = (way: string, part: number): number => at(way, part) - at('direct', part)
  const row = (part: number, limit: number): Result =>
    atMost(
      `${name}, added at p${part * 100}`,
      added('ours', part),
      Number(limit.toFixed(2)),
      `ms; direct ${at('direct', part).toFixed(2)}, a bare tee adds ${added('tee', part).toFixed(2)}`,
    )
  return [
    // A millisecond, or a third more than the least that can be done.
    row(0.5, Math.max(1, added('tee', 0.5) * 1.3)),
    row(0.99, 5),
    ...(version === undefined
      ? []
      : [
          atLeast(
            `${name}, what @portkey-ai/gateway adds by what we add`,
            added('portkey', 0.5) / added('ours', 0.5),
            2,
            `at p50; ${version} adds ${added('portkey', 0.5).toFixed(2)} ms`,
          ),
        ]),
  ]
}

/**
 * From its read of a part of an answer to the end of its write, as the proxy counts it itself: of all that passed until now, heads and
 * whole answers among it.
 */
async function ownRow(url: string): Promise<Result> {
  const answer = await fetch(`${url}/hansard/delays`)
  const { parts, p50, p99 } = (await answer.json()) as DelaySummary
  const ms = (micros: number | null): number => (micros ?? Number.NaN) / 1000
  const detail = `ms at p99; p50 ${ms(p50).toFixed(3)}, of ${parts} parts`
  return shown('a part of an answer within the proxy, by its own count', ms(p99), detail)
}

/** The best of three of each, turn about: what else a machine does only ever takes away. */
async function rateRow(ways: Ways, count: number, home: string): Promise<Result> {
  const best: Record<string, number> = {}
  let recorded = 0
  for (let round = 0; round < 3; round += 1)
    for (const [name, way] of Object.entries(ways)) {
      const began = performance.now()
      best[name] = Math.max(best[name] ?? 0, await rate(way, count / 3))
      if (name === 'ours') recorded = Math.max(recorded, (count / 3 / (await written(home, began))) * 1000)
    }
  const detail = `recorded ${recorded.toFixed(0)} a second; direct ${best['direct']?.toFixed(0)}, tee ${best['tee']?.toFixed(0)}`
  return atLeast('requests a second, 50 at once, from bare sockets', best['ours'] ?? 0, 1500, detail)
}

/** Milliseconds since then until the journals have stopped growing. */
async function written(home: string, began: number): Promise<number> {
  let size = -1
  let grown = performance.now()
  while (performance.now() - grown < 300) {
    await new Promise((done) => void setTimeout(done, 50))
    const now = journalsIn(home).reduce((sum, path) => sum + fs.statSync(path).size, 0)
    if (now > size) grown = performance.now()
    size = now
  }
  return grown - began
}

const STREAMS = 200

/** Memory until all of it is recorded, which may take longer than until all of it has passed. */
async function manyStreams(way: Way, recorder: ChildProcess, home: string, quick: boolean): Promise<Result> {
  const chunks = quick ? 500 : 10_000
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, rssOf(recorder))
  }, 50)
  const all = await Promise.all(
    Array.from({ length: STREAMS }, (_, n) => ask(way, 2000, { agentAt: n + 1, chunks })),
  )
  await written(home, performance.now())
  clearInterval(watch)
  const bytes = all.reduce((sum, one) => sum + one.bytes, 0)
  const name = `${STREAMS} streams of ${chunks.toLocaleString('en')} chunks at once`
  return atMost(name, most, 200, `MB; ${(bytes / 1e6).toFixed(0)} MB passed`)
}

/** All that was asked is in the archive, each call with its answer, and each answer to its end. */
async function nothingLost(
  folder: string,
  home: string,
  recorder: ChildProcess,
  asked: number,
): Promise<Result[]> {
  const ended = new Promise((resolve) => recorder.on('exit', resolve))
  recorder.kill('SIGTERM')
  await ended
  const env = { ...process.env, HANSARD_HOME: home, HOME: folder }
  spawnSync(process.execPath, [BIN, 'sync', '--no-index'], { cwd: folder, env })
  const { stdout } = spawnSync(process.execPath, [BIN, 'cost', '--json'], {
    cwd: folder,
    env,
    encoding: 'utf8',
    maxBuffer: 1e9,
  })
  const { total } = JSON.parse(stdout) as { readonly total: { readonly calls: number } }
  const cut = journalsIn(home)
    .map((path) => fs.readFileSync(path, 'utf8').split('"unread":').length - 1)
    .reduce((sum, one) => sum + one, 0)
  return [
    atLeast('calls recorded of those made', total.calls / asked, 1, `${total.calls} of ${asked}`),
    atMost('calls recorded without their end', cut, 0, `of ${asked}`),
  ]
}

function journalsIn(home: string): string[] {
  const sessions = join(home, 'sessions')
  return fs
    .readdirSync(sessions)
    .flatMap((id) => fs.readdirSync(join(sessions, id)).map((name) => join(sessions, id, name)))
    .filter((path) => path.includes('journal-'))
}
