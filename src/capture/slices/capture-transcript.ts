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
  settleEntry,
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
  const clean = redact ? createCleaner(secrets) : (entry: TranscriptEntry) => entry
  /** The next free number of each source. */
  const next = new Map<string, number>()
  const nextOf = (own: string): number => next.get(own) ?? 0
  const learn = ({ source: own, sequence }: TranscriptEntry): void =>
    void next.set(own, Math.max(nextOf(own), sequence + 1))
  for (const entry of slice.view().iterate()) learn(entry)

  /** 0 is the default: past the first entry of a source it says that nobody has numbered this one. */
  const numbered = (entry: TranscriptEntry): TranscriptEntry =>
    entry.sequence === 0 ? { ...entry, sequence: nextOf(entry.source) } : entry
  const takeEntry = (entry: TranscriptEntry) => {
    const item = numbered(clean(settleEntry(entry)))
    learn(item)
    return { op: 'append', item } as const
  }
  const takeEvent = (event: TranscriptEvent) => {
    const items = entriesOfEvent(event, { source, sequence: nextOf(source) }).map(clean)
    items.forEach(learn)
    return { op: 'extend', items } as const
  }
  slice.register(TranscriptEntrySlice, (_, entry) => takeEntry(entry), { policy: 'LOG' })
  slice.register(PromptRenderedSlice, (_, event) => takeEvent(event))
  slice.register(ToolInvokedSlice, (_, event) => takeEvent(event))
  slice.register(PromptExecutedSlice, (_, event) => takeEvent(event))
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
