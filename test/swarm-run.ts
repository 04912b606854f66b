/** A run of swarm's as its seed prints it, and what is read of and written for one. */
import { swarm } from '../src/formats/swarm.ts'
import type { JsonObject } from '../src/transcript/json.ts'
import { memorySource, readAll, writeTranscript, type MemoryFiles } from './memory-files.ts'

export const RUN = 'run-20251209-143022-abc123'
export const LLM = `${RUN}/build/llm/impl-loop-code-implementer-claude.jsonl`
export const RECEIPT = `${RUN}/build/receipts/impl-loop-code-implementer.json`

export const MESSAGES = `{"timestamp": "2025-12-09T14:30:22.123456Z", "role": "system", "content": "You are the code-implementer agent..."}
{"timestamp": "2025-12-09T14:30:22.234567Z", "role": "user", "content": "Implement the health check endpoint..."}
{"timestamp": "2025-12-09T14:30:25.456789Z", "role": "assistant", "content": "I'll implement the health check endpoint..."}
`

export const COMPLETE = `{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "system", "content": "Executing step impl-loop with agent code-implementer"}
{"timestamp": "2025-12-09T14:30:22.100000Z", "role": "user", "content": "Step role: Implement code changes based on test requirements"}
{"timestamp": "2025-12-09T14:30:23.200000Z", "role": "assistant", "content": "I'll read the test requirements first."}
{"timestamp": "2025-12-09T14:30:23.300000Z", "role": "tool", "tool_name": "Read", "tool_input": {"file_path": "swarm/runs/run-123/build/test_summary.md"}, "content": "# Test Summary\\n..."}
{"timestamp": "2025-12-09T14:30:24.400000Z", "role": "assistant", "content": "Now I'll implement the health endpoint."}
{"timestamp": "2025-12-09T14:30:24.500000Z", "role": "tool", "tool_name": "Write", "tool_input": {"file_path": "src/health.py", "content": "def health():\\n    return {'status': 'ok'}"}, "tool_output": "File written"}
{"timestamp": "2025-12-09T14:30:25.600000Z", "role": "assistant", "content": "Implementation complete. Running tests to verify."}
{"timestamp": "2025-12-09T14:30:25.700000Z", "role": "tool", "tool_name": "Bash", "tool_input": {"command": "pytest tests/test_health.py"}, "tool_output": "1 passed"}
{"timestamp": "2025-12-09T14:30:26.800000Z", "role": "assistant", "content": "[STUB] Completed step impl-loop. In production, this would contain the actual Claude response."}
`

export const STUB = `{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "system", "content": "Executing step impl-loop with agent code-implementer"}
{"timestamp": "2025-12-09T14:30:22.000000Z", "role": "user", "content": "Step role: Implement code changes..."}
{"timestamp": "2025-12-09T14:30:22.100000Z", "role": "assistant", "content": "[STUB] Completed step impl-loop. In production, this would contain the actual Claude response."}
`

const receipt = (
  model: string,
  completedAt: string,
  durationMs: number,
  tokens: readonly number[],
): string => `{
  "engine": "claude-step",
  "model": "${model}",
  "step_id": "impl-loop",
  "flow_key": "build",
  "run_id": "run-20251209-143022-abc123",
  "agent_key": "code-implementer",
  "started_at": "2025-12-09T14:30:22.000000Z",
  "completed_at": "${completedAt}",
  "duration_ms": ${durationMs},
  "status": "succeeded",
  "tokens": {
    "prompt": ${tokens[0]},
    "completion": ${tokens[1]},
    "total": ${tokens[2]}
  },
  "transcript_path": "llm/impl-loop-code-implementer-claude.jsonl"
}
`

export const RECEIPT_EXAMPLE = receipt(
  'claude-sonnet-4-20250514',
  '2025-12-09T14:30:26.800000Z',
  4800,
  [12500, 3200, 15700],
)

export const STUB_RECEIPT = receipt('claude-stub', '2025-12-09T14:30:22.100000Z', 100, [0, 0, 0])
export const text = (target: MemoryFiles, path: string): string => target.get(path)?.toString('utf8') ?? ''

export const lines = (target: MemoryFiles, path = LLM): JsonObject[] =>
  text(target, path)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JsonObject)

/** Reads a step, writes every session found, and gives the files. */
export async function roundTrip(source: MemoryFiles): Promise<MemoryFiles> {
  const target: MemoryFiles = new Map()
  for (const found of await readAll(swarm, memorySource(source)))
    writeTranscript(swarm, found, { files: target })
  return target
}
