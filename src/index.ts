/** The library: record a session, read one, convert it. Loads neither the server nor SQLite nor the command line. */
export { HansardError, isHansardError, type ErrorCode } from './errors.ts'
export { VERSION } from './version.ts'

export { record, type Ending, type Recorder, type RecordOptions } from './capture/record.ts'
export type { Details, Said, SourceRecorder, ToolCall, ToolResult } from './capture/recorder.ts'
export { startRun, type RunOptions, type RunRecorder, type StepOptions } from './capture/run.ts'
export type { Failure } from './capture/report.ts'

export { openArchive, type Archive } from './archive/archive.ts'
export { readSession } from './archive/read-session.ts'
export { readFacts, type SessionFacts } from './archive/facts.ts'
export { recoverSession, type Recovered } from './archive/recover.ts'

export { formats } from './formats/index.ts'
export type { FileOperation, Format, ReadItem, WriteContext, Writer, Writing } from './formats/format.ts'

export type { BlobRef, Block, Content } from './transcript/block.ts'
export { citation, type Call, type Entry, type Origin, type Role } from './transcript/entry.ts'
export type { Damage } from './transcript/damage.ts'
export type { Json, JsonObject } from './transcript/json.ts'
export type { Cost, Run, Session, Status, Totals } from './transcript/session.ts'
export {
  query,
  sourceTree,
  turns,
  type Query,
  type SourceTree,
  type Transcript,
  type Turn,
} from './transcript/transcript.ts'
export { addUsage, promptTokens, type Usage } from './transcript/usage.ts'
