/**
 * Calls of which something was told, and may be told more: by a span after its log records, by log records after their span, or by a
 * span around them. Whatever comes, each word is recorded once, and each call counted once.
 */
import { hasCounts } from '../../transcript/usage.ts'
import type { Recorder } from '../record.ts'
import type { SourceRecorder } from '../recorder.ts'
import type { Talk } from './talks.ts'
import type { Voice } from './voices.ts'
import { saysAnything, writeAnswer, writeAsked, type Part } from './write-call.ts'

export type HeardCall = {
  readonly talk: Talk
  readonly voice: Voice
  readonly messageId: string | undefined
  hasContent: boolean
  hasAnswer: boolean
  /** Its span, which has the counts, was told. */
  hasSpan: boolean
}

export type HeardCalls = {
  get(key: string): HeardCall | undefined
  remember(key: string, call: HeardCall): void
}

/** Nobody tells more of a call that ten thousand others came after. */
const MOST = 10_000

export function createHeardCalls(): HeardCalls {
  const calls = new Map<string, HeardCall>()
  return {
    get: (key) => calls.get(key),
    remember(key, call) {
      calls.set(key, call)
      if (calls.size > MOST) calls.delete(calls.keys().next().value as string)
    },
  }
}

/** Where a voice is recorded. */
export function sourceOf(recorder: Recorder, { path }: Voice): SourceRecorder {
  let source: SourceRecorder = recorder
  for (const id of path) source = source.subagent(id)
  return source
}

/** What was not told of it before. `from`: log records have words alone; a sum of calls has counts that are counted already. */
export async function tellMore(
  call: HeardCall,
  part: Part,
  from: 'span' | 'logs' | 'sum',
): Promise<Recorder> {
  const recorder = await call.talk.recorder(part.askedAt)
  const source = sourceOf(recorder, call.voice)
  writeAsked(source, call.voice, part)
  call.hasContent ||= saysAnything(part)
  if (from === 'sum') {
    writeAnswer(source, call.voice, { ...part, isCountedElsewhere: true })
    return recorder
  }
  const { messageId: _, ...unnamed } = part.message
  const message = {
    ...unnamed,
    // One call has one name: that under which it was told first.
    ...(call.messageId !== undefined && { messageId: call.messageId }),
    ...(call.hasAnswer && { blocks: [] }),
  }
  const { blocks, usage, error } = message
  const isCounted = from === 'span' && usage !== undefined && hasCounts(usage)
  const isOver = from === 'span' && !call.hasAnswer
  if (blocks.length > 0 || error !== undefined || (!call.hasSpan && (isCounted || isOver)))
    writeAnswer(source, call.voice, { ...part, message })
  call.hasAnswer ||= blocks.length > 0
  call.hasSpan ||= from === 'span'
  return recorder
}
