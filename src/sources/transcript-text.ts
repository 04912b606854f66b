/** Sessions of any format as plain text: weakincentives' lines as its `format_transcript` prints them, all others with their tools' names. */
import type { TranscriptEntry } from '../formats/weakincentives-entry.ts'
import { lineOf } from '../formats/weakincentives-parts.ts'
import { createTextView, type TextOptions, type TextView } from '../replay/text.ts'
import type { Entry } from '../transcript/entry.ts'

type Options = Pick<TextOptions, 'timeZone'>

export function createTranscriptView(options: Options = {}): TextView {
  return createTextView({ ...options, lineOf })
}

/** All entries as one text, weakincentives' own or the model's; empty for none. Control characters are escaped. */
export function formatTranscript(entries: Iterable<TranscriptEntry | Entry>, options: Options = {}): string {
  const view = createTranscriptView(options)
  let text = ''
  for (const entry of entries) text += 'blocks' in entry ? view.entry(entry) : view.line(entry)
  return text
}
