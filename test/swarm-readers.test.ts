/** Flow Studio's own readers, as its schema document prints them, on files that we wrote: they must run unchanged. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { swarm } from '../src/formats/swarm.ts'
import type { Entry } from '../src/transcript/entry.ts'
import { writeTranscript, type MemoryFiles } from './memory-files.ts'

const PYTHON = `
import json
from pathlib import Path

def read_transcript(run_base: Path, flow_key: str, step_id: str, agent_key: str, engine: str) -> list:
    """Read transcript entries from a JSONL file."""
    transcript_path = run_base / flow_key / "llm" / f"{step_id}-{agent_key}-{engine}.jsonl"

    entries = []
    with transcript_path.open("r", encoding="utf-8") as f:
        for line in f:
            line = line.strip()
            if line:
                entries.append(json.loads(line))
    return entries

def read_receipt(run_base: Path, flow_key: str, step_id: str, agent_key: str) -> dict:
    """Read receipt JSON for a step execution."""
    receipt_path = run_base / flow_key / "receipts" / f"{step_id}-{agent_key}.json"

    with receipt_path.open("r", encoding="utf-8") as f:
        return json.load(f)
`
/** The document's own use of them, then everything they gave, for us to compare. */
const PYTHON_USE = `
import sys
run_base = Path(sys.argv[1])
transcript = read_transcript(run_base, "build", "impl-loop", "code-implementer", "claude")
for entry in transcript:
    print(f"[{entry['role']}] {entry.get('content', '')[:100]}...", file=sys.stderr)
receipt = read_receipt(run_base, "build", "impl-loop", "code-implementer")
print(f"Duration: {receipt['duration_ms']}ms", file=sys.stderr)
print(f"Tokens: {receipt['tokens']['total']}", file=sys.stderr)
print(f"Status: {receipt['status']}", file=sys.stderr)
print(json.dumps({"transcript": transcript, "receipt": receipt}))
`
const JAVASCRIPT = `
async function loadTranscript(runId, flowKey, stepId, agentKey, engine) {
  const url = \`/api/runs/\${runId}/transcript/\${flowKey}/\${stepId}/\${agentKey}/\${engine}\`;
  const response = await fetch(url);
  const text = await response.text();

  return text
    .split('\\n')
    .filter(line => line.trim())
    .map(line => JSON.parse(line));
}

async function loadReceipt(runId, flowKey, stepId, agentKey) {
  const url = \`/api/runs/\${runId}/receipt/\${flowKey}/\${stepId}/\${agentKey}\`;
  const response = await fetch(url);
  return response.json();
}
`

const RUN = 'run-20251209-143022-abc123'
const STEP = ['build', 'impl-loop', 'code-implementer'] as const
const AT = '2025-12-09T14:30:23.000Z'

const message = (sequence: number, facts: Pick<Entry, 'role' | 'blocks' | 'usage'>): Entry => ({
  id: `primary/${sequence}`,
  source: 'primary',
  sequence,
  kind: 'message',
  at: AT,
  ...facts,
})

let folder: string
let target: MemoryFiles
let server: Server
let base: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hansard-swarm-'))
  const { files } = writeTranscript(swarm, {
    session: {
      id: '0190c8a4-0000-7000-8000-000000000001',
      run: { id: RUN, flow: STEP[0], step: STEP[1], agentKey: STEP[2], engine: 'claude' },
      model: 'claude-sonnet-4-20250514',
      startedAt: '2025-12-09T14:30:22.000Z',
      endedAt: '2025-12-09T14:30:26.800Z',
      status: 'failed',
      error: 'the tests failed',
    },
    entries: [
      message(0, {
        role: 'user',
        blocks: [{ type: 'text', text: '修复 line\r\nline\u2028\u2029 \u0085 \ud800' }],
      }),
      message(1, {
        role: 'assistant',
        usage: { input: 100, cacheRead: 12_400, output: 3200, quality: 'reported' },
        blocks: [
          { type: 'text', text: 'I read it first.' },
          { type: 'tool-call', callId: '1', name: 'Read', input: { file_path: 'a.py' } },
          { type: 'tool-call', callId: '2', name: 'Bash', input: { command: 'pytest' } },
        ],
      }),
      message(2, { role: 'tool', blocks: [{ type: 'tool-result', callId: '1', output: '# a' }] }),
      message(3, { role: 'assistant', blocks: [{ type: 'error', message: 'overloaded' }] }),
    ],
  })
  target = files
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
  server = createServer((request, response) => response.end(target.get(toPath(request.url ?? ''))))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The two endpoints that the document's functions ask. */
function toPath(url: string): string {
  const [run, kind, flow, step, agent, engine] = url.split('/').slice(3)
  return kind === 'transcript'
    ? `${run}/${flow}/llm/${step}-${agent}-${engine}.jsonl`
    : `${run}/${flow}/receipts/${step}-${agent}.json`
}

function expectWhole(transcript: readonly Record<string, unknown>[], receipt: unknown): void {
  expect(
    transcript.map((line) => [line['role'], line['content'] ?? line['tool_output'], line['tool_name']]),
  ).toEqual([
    ['user', '修复 line\r\nline\u2028\u2029 \u0085 \ud800', undefined],
    ['assistant', 'I read it first.', undefined],
    ['tool', '# a', 'Read'],
    ['assistant', 'overloaded', undefined],
    ['tool', undefined, 'Bash'],
  ])
  expect(receipt).toMatchObject({
    duration_ms: 4800,
    status: 'failed',
    error: 'the tests failed',
    tokens: { prompt: 12_500, completion: 3200, total: 15_700 },
  })
}

describe("Flow Studio's own readers", () => {
  it('in JavaScript get every line and the receipt', async () => {
    const program = join(folder, 'readers.mjs')
    // In a page, fetch resolves paths against the page's address.
    const fetching = `const fetch = (path) => globalThis.fetch(new URL(path, '${base}'))`
    writeFileSync(program, `${fetching}\n${JAVASCRIPT}\nexport { loadTranscript, loadReceipt }\n`)
    const readers = (await import(pathToFileURL(program).href)) as {
      loadTranscript(...names: readonly string[]): Promise<Record<string, unknown>[]>
      loadReceipt(...names: readonly string[]): Promise<unknown>
    }
    expectWhole(await readers.loadTranscript(RUN, ...STEP, 'claude'), await readers.loadReceipt(RUN, ...STEP))
  })

  it('in Python get the same, on machines that have it', () => {
    const program = join(folder, 'readers.py')
    writeFileSync(program, PYTHON + PYTHON_USE)
    const ran = spawnSync('python3', [program, join(folder, RUN)], {
      encoding: 'utf8',
      env: { ...process.env, PYTHONIOENCODING: 'utf-8:backslashreplace' },
    })
    const isMissing = ran.error !== undefined && 'code' in ran.error && ran.error.code === 'ENOENT'
    if (isMissing) return expect(ran.status).toBeNull()
    expect(ran.status, ran.stderr).toBe(0)
    const { transcript, receipt } = JSON.parse(ran.stdout) as {
      transcript: Record<string, unknown>[]
      receipt: unknown
    }
    expectWhole(transcript, receipt)
    expect(ran.stderr).toContain('Duration: 4800ms\nTokens: 15700\nStatus: failed\n')
  })
})
