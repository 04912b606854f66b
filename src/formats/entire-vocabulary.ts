/** The words of Entire's compact transcripts that were seen so far. */
import { asArray, asString, isObject, type JsonObject } from '../transcript/json.ts'
import { vocabulary, type DriftWatch } from './drift.ts'

export const COMPACT_VOCABULARY = vocabulary({
  records: [
    'compact: v agent cli_version type ts id content input_tokens output_tokens',
    'result: output status file matchCount',
  ],
  // The kinds of lines and of blocks, and what a result's status may be.
  blocks: [
    ...'type:user type:assistant status:success status:error'.split(' '),
    'image: source',
    'text: id text',
    'tool_use: id input name result',
  ],
})

export function watchCompact(watch: DriftWatch, line: JsonObject): void {
  const version = asString(line['cli_version'])
  watch.record('compact', line, version)
  watch.block(`type:${asString(line['type']) ?? ''}`, version)
  for (const part of asArray(line['content']) ?? []) {
    if (!isObject(part)) continue
    // A prompt's text has no type of its own.
    watch.block(asString(part['type']) ?? ('text' in part ? 'text' : 'untyped'), version, part)
    const { result } = part
    if (!isObject(result)) continue
    watch.record('result', result, version)
    if (result['status'] !== undefined) watch.block(`status:${asString(result['status']) ?? ''}`, version)
  }
}
