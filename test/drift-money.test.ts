/** Formats change where the money is, too: a key among the counts, or a kind of answer, that nobody has seen is told of. */
import { expect, it } from 'vitest'
import { formats } from '../src/formats/index.ts'
import { SAMPLES } from './kept-samples.ts'
import { memoryFileSource } from './memory-files.ts'

/** A key that a sample has, renamed, and the drift that this is. */
const RENAMED = [
  ['opencode', '"reasoning":2', '"pondering":2', 'key tokens.pondering'],
  ['opencode', '"status":"completed"', '"status":"paused"', 'block status:paused'],
  ['opencode', '"parts":', '"pieces":', 'key export.message.pieces'],
  ['copilot-cli', '"cacheReadTokens"', '"cachedTokens"', 'key usage.cachedTokens'],
  ['cline', '"say":"reasoning"', '"say":"musing"', 'block say:musing'],
  ['cline', '"completion":5', '"completed":5', 'key tokens.completed'],
  ['cursor', '"role":"assistant"', '"role":"oracle"', 'block role:oracle'],
  ['opencode', '"mime"', '"kind"', 'key part.file.kind'],
  ['copilot-cli', '"detailedContent"', '"fullContent"', 'key result.fullContent'],
  ['cline', '"tool_use_id"', '"tool_used"', 'key block/tool_result.tool_used'],
  ['cursor', '"input":{"path"', '"given":{"path"', 'key block/tool_use.given'],
  ['entire', '"input":', '"given":', 'key block/tool_use.given'],
  ['entire', '"input_tokens"', '"prompt_tokens"', 'key compact.prompt_tokens'],
] as const

it.each(RENAMED)('%s: %s written %s is %s', async (id, known, changed, told) => {
  const format = formats.find((one) => one.id === id)
  const drift = async (change: (text: string) => string): Promise<ReadonlySet<string>> => {
    const found = new Set<string>()
    for (const { format: of, path, records, isLines } of SAMPLES) {
      if (of !== id || format === undefined) continue
      const text = isLines
        ? (records as readonly unknown[]).map((record) => `${JSON.stringify(record)}\n`).join('')
        : JSON.stringify(records)
      const source = memoryFileSource(path, change(text))
      for await (const _ of format.read(source, { drift: ({ kind, name }) => found.add(`${kind} ${name}`) }));
    }
    return found
  }
  expect(await drift((text) => text)).not.toContain(told)
  expect(await drift((text) => text.replaceAll(known, changed))).toContain(told)
})
