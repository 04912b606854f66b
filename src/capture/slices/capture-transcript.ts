/** weakincentives' transcript capture: opt-in, and a log from its first entry. */
import { PRIMARY } from '../../transcript/entry.ts'
import {
  PromptExecutedSlice,
  PromptRenderedSlice,
  ToolInvokedSlice,
  TranscriptEntrySlice,
  entriesOfEvent,
  type TranscriptEvent,
} from './events.ts'
import type { SliceSession } from './slice-session.ts'

/** Turns on the capture of transcripts: the three events become entries of a LOG slice, numbered in the order of dispatch. */
export function captureTranscript(
  session: SliceSession,
  { source = PRIMARY }: { readonly source?: string } = {},
): void {
  const slice = session.slice(TranscriptEntrySlice)
  let sequence = 0
  for (const entry of slice.view().iterate())
    if (entry.source === source) sequence = Math.max(sequence, entry.sequence + 1)
  const take = (event: TranscriptEvent) => {
    const items = entriesOfEvent(event, { source, sequence })
    sequence += items.length
    return { op: 'extend', items } as const
  }
  slice.register(TranscriptEntrySlice, (_, item) => ({ op: 'append', item }), { policy: 'LOG' })
  slice.register(PromptRenderedSlice, (_, event) => take(event))
  slice.register(ToolInvokedSlice, (_, event) => take(event))
  slice.register(PromptExecutedSlice, (_, event) => take(event))
}
