/**
 * Which lines of a rollout were taken back later. `thread_rolled_back` drops the last turns, each from its prompt on: that is known
 * only behind them, so a file that speaks of it is read once more. What was taken back stays, and was paid for.
 */
import { asCount, asObject, isObject } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { fromCodexLine, recordName } from './codex-lines.ts'
import { isInjected } from './codex-injected.ts'
import { readInOrder, type Step } from './in-order.ts'

/** True for a record that was taken back, by its offset. To be asked in the order of the file. */
export type RolledBack = (byteOffset: number) => boolean

const NAME = 'thread_rolled_back'

export async function surveyRollbacks(file: SourceFile): Promise<RolledBack> {
  if (!(await speaksOf(file, Buffer.from(NAME)))) return () => false
  /** Where the prompts begin that still stand. */
  const prompts: number[] = []
  /** Disjoint, in order. */
  const ranges: { readonly from: number; readonly to: number }[] = []
  const rollBack = (turns: number, to: number): void => {
    const from = prompts[Math.max(0, prompts.length - turns)]
    if (from === undefined || turns === 0) return
    prompts.length = Math.max(0, prompts.length - turns)
    while ((ranges.at(-1)?.from ?? -1) >= from) ranges.pop()
    ranges.push({ from, to })
  }
  // Not in the frame that waits for the next: it would hold on to the last record meanwhile.
  const take = (step: Step): void => {
    if (!('record' in step) || !isObject(step.record.value)) return
    const { value, byteOffset } = step.record
    if (value['type'] === 'event_msg' && recordName(value) === NAME) {
      rollBack(asCount(asObject(value['payload'])?.['num_turns']) ?? 0, byteOffset)
      return
    }
    const { kind, role, blocks } = fromCodexLine(value)
    if (kind === 'message' && role === 'user' && !isInjected(blocks)) prompts.push(byteOffset)
  }
  for await (const steps of readInOrder(file)) steps.forEach(take)
  let at = 0
  return (byteOffset) => {
    for (let next = ranges[at]; next !== undefined && next.to <= byteOffset; next = ranges[at]) at += 1
    return (ranges[at]?.from ?? Number.POSITIVE_INFINITY) <= byteOffset
  }
}

/** Whether the bytes stand anywhere in the file. What cannot be read says nothing: the reading that follows tells of it. */
async function speaksOf(file: SourceFile, name: Buffer): Promise<boolean> {
  let tail = Buffer.alloc(0)
  try {
    for await (const chunk of file.chunks()) {
      const joint = Buffer.concat([tail, chunk.subarray(0, name.length)])
      if (joint.includes(name) || chunk.includes(name)) return true
      tail = Buffer.from(chunk.subarray(Math.max(0, chunk.length - name.length)))
    }
  } catch {
    return false
  }
  return false
}
