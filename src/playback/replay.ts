/**
 * `import { replay } from 'hansard/replay'`: a recording as a provider in a test, for vitest, node:test and whatever else waits for a
 * promise. What it promises is what `hansard replay --serve` does.
 */
import os from 'node:os'
import { planRedirection } from '../sources/redirection.ts'
import type { MatchWay } from '../replay/matching/matcher.ts'
import type { Speed } from './play.ts'
import { openRecording } from './recording.ts'
import { readTools, type RecordedTools } from './recorded-tools.ts'
import type { ReplayReport } from './report.ts'
import { saveReport } from './report-file.ts'
import { serveRecording } from './server.ts'
import { stubTools, type Tools } from './stub-tools.ts'
import { verdictOf, type Verdict } from './verify.ts'

export type { Divergence, Drift, Verdict } from './verify.ts'
export type { ReplayReport, Served } from './report.ts'

export type ReplayOptions = {
  /** The archive; `$HANSARD_HOME` or `~/.hansard` when absent. */
  readonly home?: string
  readonly port?: number
  /** Frames when they came, or at once, which is the default. */
  readonly speed?: Speed
  /** The least exact way in which a request may be found; `positional` unless said. */
  readonly match?: MatchWay
  /** How often the same may be asked beyond the recording; 5 unless said. */
  readonly repeats?: number
}

export type Replay = {
  /** `http://127.0.0.1:PORT`; providers are below it: `/anthropic`, `/openai/v1`, `/google`. */
  readonly url: string
  /** What agents and SDKs read to find it: `ANTHROPIC_BASE_URL` and its like. */
  readonly env: { readonly [name: string]: string }
  report(): ReplayReport
  /** Where what was asked parts from the recording. */
  verify(): Promise<Verdict>
  /** The same tools, which give what was recorded and never run. */
  tools<T extends Tools>(tools: T): Promise<T>
  close(): Promise<void>
}

/** `id`: of a session or a run, or the beginning of it. */
export async function replay(id: string, options: ReplayOptions = {}): Promise<Replay> {
  const { home, match, ...rest } = options
  const recording = await openRecording(id, home)
  const roots = [process.cwd(), os.homedir()]
  const server = await serveRecording(recording, { ...rest, ...(match && { loosest: match }), roots })
  let recorded: Promise<RecordedTools> | undefined
  let isClosed = false
  return {
    url: server.url,
    env: environmentOf(server.url),
    report: () => server.report(),
    verify: () => verdictOf(recording, server.report(), { unasked: server.unasked() }),
    async tools(tools) {
      recorded ??= readTools(recording, roots)
      return stubTools(tools, await recorded, { onStubbed: (name) => server.log.stubbed(name) })
    },
    async close() {
      if (isClosed) return
      isClosed = true
      await server.close()
      saveReport(recording.archive, server.report())
      recording.close()
    },
  }
}

const PROVIDERS = ['anthropic', 'openai', 'google', 'code-assist']

function environmentOf(url: string): { readonly [name: string]: string } {
  const known = new Map(PROVIDERS.map((name) => [name, { name, url: new URL(url) }]))
  const { env } = planRedirection(known, {}, []).redirect(url)
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, said]) => (said === undefined ? [] : [[name, said]])),
  )
}
