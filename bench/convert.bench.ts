/** Converting a session of 1 GB where the target can be streamed: the most memory the process ever held. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { atMost, type Result } from './measure.ts'
import { TELL_PEAK, toldPeak } from './peak-memory.ts'
import { sampleText } from './samples.ts'

const STREAMED = ['weakincentives', 'swarm', 'entire', 'journal']

export const bench: Bench = async ({ quick }) => {
  const size = quick ? 50_000_000 : 1_000_000_000
  const folder = mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  const path = join(folder, 'full.jsonl')
  writeSession(path, size)
  const results: Result[] = []
  for (const target of STREAMED) {
    const out = join(folder, target)
    mkdirSync(out)
    const { peakMb, seconds } = convert(path, target, out)
    const mb = (statSync(path).size / 1e6).toFixed(0)
    results.push(atMost(`convert ${mb} MB to ${target}`, peakMb, 250, `MB at most, ${seconds.toFixed(0)} s`))
    rmSync(out, { recursive: true })
  }
  rmSync(folder, { recursive: true, force: true })
  return results
}

/** A session as forgeflare writes it: prompts, answers with a tool call, tool results. */
function writeSession(path: string, size: number): void {
  const common = {
    sessionId: '2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890',
    cwd: '/p',
    version: '0.0.44',
  }
  const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  let written = 0
  for (let n = 0; written < size;) {
    const lines: string[] = []
    for (let pair = 0; pair < 2000; pair += 1, n += 2) {
      const timestamp = new Date(1_770_000_000_000 + n * 1000).toISOString()
      const link = (at: number): object => ({
        uuid: uuid(at),
        parentUuid: at === 0 ? null : uuid(at - 1),
        timestamp,
      })
      const user = [{ type: 'tool_result', tool_use_id: `toolu_${n - 1}`, content: sampleText(2500, n) }]
      const content = n === 0 ? 'Begin.' : user
      const tool = {
        type: 'tool_use',
        id: `toolu_${n + 1}`,
        name: 'read_file',
        input: { path: `src/${n}.ts` },
      }
      const usage = {
        input_tokens: 1200,
        output_tokens: 350,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 800,
      }
      const message = {
        role: 'assistant',
        content: [{ type: 'text', text: sampleText(900, n) }, tool],
        usage,
      }
      lines.push(JSON.stringify({ type: 'user', ...common, ...link(n), message: { role: 'user', content } }))
      lines.push(JSON.stringify({ type: 'assistant', ...common, ...link(n + 1), message }))
    }
    const text = `${lines.join('\n')}\n`
    appendFileSync(path, text)
    written += text.length
  }
}

function convert(path: string, target: string, out: string): { peakMb: number; seconds: number } {
  const bin = join(import.meta.dirname, '../bin/hansard.js')
  const started = performance.now()
  const args = ['--import', TELL_PEAK, bin, 'convert', path, '--to', target, '--out', out]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1e8 })
  if (status !== 0)
    throw new Error(`hansard convert --to ${target} ended with ${status}: ${stderr.slice(-300)}`)
  return { peakMb: toldPeak(stderr).mb, seconds: (performance.now() - started) / 1000 }
}
