/** weakincentives' transcript capture: opt-in, a log from its first entry, and redacted before a slice holds it. */
import { randomBytes } from 'node:crypto'
import type { TranscriptEntry } from '../../formats/weakincentives-entry.ts'
import { createRedactor } from '../../redact/redactor.ts'
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

export type CaptureOptions = {
  readonly source?: string
  /** On unless false. */
  readonly redact?: boolean
  /** Secrets to take out wherever they occur, beside those found by rule. */
  readonly secrets?: readonly string[]
}

/** Turns on the capture of transcripts: the three events become entries of a LOG slice, numbered in the order of dispatch. */
export function captureTranscript(
  session: SliceSession,
  { source = PRIMARY, redact = true, secrets = [] }: CaptureOptions = {},
): void {
  const slice = session.slice(TranscriptEntrySlice)
  const clean = redact ? createCleaner(secrets) : (entry: TranscriptEntry) => ({ ...entry })
  /** A copy of our own that nobody can change: what a log in memory holds stays as it was said. */
  const toKeep = (entry: TranscriptEntry): TranscriptEntry => Object.freeze(clean(entry))
  let sequence = 0
  for (const entry of slice.view().iterate())
    if (entry.source === source) sequence = Math.max(sequence, entry.sequence + 1)
  const take = (event: TranscriptEvent) => {
    const items = entriesOfEvent(event, { source, sequence }).map(toKeep)
    sequence += items.length
    return { op: 'extend', items } as const
  }
  slice.register(TranscriptEntrySlice, (_, item) => ({ op: 'append', item: toKeep(item) }), { policy: 'LOG' })
  slice.register(PromptRenderedSlice, (_, event) => take(event))
  slice.register(ToolInvokedSlice, (_, event) => take(event))
  slice.register(PromptExecutedSlice, (_, event) => take(event))
}

/** Takes secrets out of an entry. One that cannot be looked through keeps its place and loses its content. */
function createCleaner(secrets: readonly string[]): (entry: TranscriptEntry) => TranscriptEntry {
  const redactor = createRedactor({
    // A slice belongs to no archive: its placeholders are stable within this capture.
    key: randomBytes(32),
    env: process.env,
    values: secrets.map((value) => ({ name: 'secret', value })),
  })
  return (entry) => {
    // Ids are paired by, and the rest are words and numbers of ours.
    const { role, created_at, tool_call_id, entry_id, sequence } = entry
    const own = { role, created_at, tool_call_id, entry_id, source: redactor.id(entry.source), sequence }
    try {
      return { ...(redactor.json(entry) as TranscriptEntry), ...own }
    } catch {
      return { ...own, content: WITHHELD, tool_name: null, tool_input: null, metadata: null }
    }
  }
}

const WITHHELD = 'content withheld: it could not be redacted'
