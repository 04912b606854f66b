/**
 * leslie: a plain text file per conversation unit, for people and for agents that read files. Written cut down (200
 * characters of a tool's parameters and results, 20 KB a file), so a lossy target; read best effort. docs/formats/leslie.md.
 */
import type { Format } from './format.ts'
import { detectLeslie, readLeslie } from './leslie-read.ts'
import { beginLeslie, transcriptsFolder } from './leslie-write.ts'
import { PLACES } from './places.ts'

export const leslie: Format = {
  id: 'leslie',
  title: 'leslie: one plain text file for each user message and what came of it',
  detect: detectLeslie,
  read: readLeslie,
  write: {
    root: '.leslie',
    // Only the transcripts: what else a thread has, its plans and designs, is meant to be committed.
    ignored: transcriptsFolder,
    begin: beginLeslie,
  },
  places: PLACES.leslie,
  // A thread's chats go on from file to file.
  unit: ({ path }) => path.slice(0, Math.max(0, path.indexOf('/'))) || path,
}
