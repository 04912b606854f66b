/**
 * One JSON document of 100 MB of every format that has documents, read to its end by a process of its own: what it takes in memory at most.
 * `--quick` takes 25 MB; the budget is the same.
 */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Bench } from './bench.ts'
import { GROWN, toKind } from './grown-samples.ts'
import { DOCUMENTS, writeDocument, type DocumentKind } from './huge-files.ts'
import { atMost, type Result } from './measure.ts'
import { sampleText } from './samples.ts'
import type { ReadReport } from './read-child.ts'

const MOST_MB = 300
const CHILD = join(import.meta.dirname, `read-child.${import.meta.filename.endsWith('.ts') ? 'ts' : 'js'}`)

export const bench: Bench = async ({ quick, chosen = [] }) => {
  const results: Result[] = []
  for (const [name, kind] of kinds()) {
    if (chosen.length > 0 && !chosen.some((one) => name.startsWith(one))) continue
    const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-'))
    try {
      const path = join(folder, basename(kind.path))
      writeDocument(path, kind, quick ? 25e6 : 100e6, 'whole')
      results.push(measure(name, path))
    } finally {
      fs.rmSync(folder, { recursive: true, force: true })
    }
  }
  return results
}

/** One answer is one record: what can be long is what was asked. */
const ASKED: DocumentKind = {
  path: 'request.json',
  begin: '{"model":"gpt-5","instructions":"be brief","input":[\n',
  element: (n) =>
    JSON.stringify({
      type: 'message',
      role: n % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: n % 2 === 0 ? 'input_text' : 'output_text', text: sampleText(900, n % 50) }],
    }),
  end: ']}',
}

/** Those that are made for `huge`, and of the other formats their samples. */
function* kinds(): Generator<readonly [string, DocumentKind]> {
  const made = new Set(Object.keys(DOCUMENTS).map((name) => name.replace(/\W.*$/, '')))
  made.add('gemini-cli')
  yield* Object.entries(DOCUMENTS)
  yield ['openai-responses, a request', ASKED]
  made.add('openai-responses')
  for (const sample of GROWN) {
    // Only one list of a document is read as it comes; what is asked of the model in a sample lies in its events.
    const isOther = made.has(sample.format) || sample.title === 'a sample without events'
    const kind = isOther ? undefined : toKind(sample)
    if (kind !== undefined) yield [`${sample.format}, ${sample.title}`, kind]
  }
}

function measure(name: string, path: string): Result {
  const began = performance.now()
  const { stdout, stderr, status } = spawnSync(process.execPath, [CHILD, path], { encoding: 'utf8' })
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  const format = name.replace(/(?:,|').*$/, '')
  const report = status === 0 ? (JSON.parse(stdout) as ReadReport) : undefined
  const memory = report === undefined ? Number.POSITIVE_INFINITY : report.peakMb
  const isRight =
    report !== undefined && report.format === format && report.entries > 1000 && report.damage === 0
  const detail =
    report === undefined
      ? stderr.slice(-300)
      : `MB; ${seconds} s; ${report.format}, ${report.sessions} sessions, ${report.entries} entries, ${report.damage} damaged`
  const result = atMost(
    `documents: ${name}`,
    memory,
    MOST_MB,
    isRight ? detail : `NOT AS IT SHOULD BE: ${detail}`,
  )
  return { ...result, ok: result.ok && isRight }
}
