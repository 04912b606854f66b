/**
 * The library: record a session, read one, convert it, and the parts those are made of. Loads neither the server nor SQLite nor the
 * command line.
 */
export { HansardError, isHansardError, type ErrorCode } from './errors.ts'
export { VERSION } from './version.ts'

// Recording
export { record, type Recorder, type RecordOptions } from './capture/record.ts'
export type { Ending, Facts } from './capture/session-facts.ts'
export type { Details, Said, SourceRecorder, ToolCall, ToolResult } from './capture/recorder.ts'
export { startRun, type RunOptions, type RunRecorder, type StepOptions } from './capture/run.ts'
export type { Failure } from './capture/report.ts'

// Recording what SDKs do: `hansard/openai` and the like for one of them
export { recording, type Recording } from './capture/wrap/recording.ts'
export type { WrapOptions } from './capture/wrap/wrap-log.ts'

// devflow's runs
export { openDevflow, type DevflowStore } from './capture/devflow-runs.ts'
export { devflowRunId } from './formats/devflow.ts'

// weakincentives' slices
export { captureTranscript } from './capture/slices/capture-transcript.ts'
export {
  entriesOfEvent,
  PromptExecutedSlice,
  PromptRenderedSlice,
  ToolInvokedSlice,
  TranscriptEntrySlice,
  type PromptExecuted,
  type PromptRendered,
  type ToolInvoked,
  type TranscriptEvent,
} from './capture/slices/events.ts'
export { jsonlSliceFactory } from './capture/slices/jsonl.ts'
export { memorySliceFactory } from './capture/slices/memory.ts'
export { appendAll, replaceLatest, replaceLatestBy, upsertBy } from './capture/slices/reducers.ts'
export { createSliceSession, type SliceSession } from './capture/slices/slice-session.ts'
export type { SliceFactoryConfig, SlicePolicy, SliceType } from './capture/slices/slice.ts'
export { convertClaudeTranscriptEntry, convertClaudeTranscriptLine } from './formats/weakincentives-claude.ts'
export type { TranscriptEntry } from './formats/weakincentives-entry.ts'

// The archive
export { openArchive, type Archive } from './archive/archive.ts'
export { readFacts, type SessionFacts } from './archive/facts.ts'
export { readSession } from './archive/read-session.ts'
export { recoverSession, type Recovered } from './archive/recover.ts'

// Reading and converting files
export { convertItems } from './archive/convert.ts'
export { formats } from './formats/index.ts'
export type { FileOperation, Format, ReadItem, WriteContext, Writer, Writing } from './formats/format.ts'
export { detect, identify } from './sources/detect.ts'
export { allFormats } from './sources/formats.ts'
export { openSource } from './sources/open.ts'
export { readItems, readTranscripts } from './sources/read.ts'
export { survey } from './sources/survey.ts'

// Views
export { formatTranscript } from './sources/transcript-text.ts'

// The wire, money and secrets
export { createReassembly, parseMessage } from './wire/apis.ts'
export type { WireApi, WireMessage } from './wire/message.ts'
export { parseRequest } from './wire/request.ts'
export { createSseParser, type SseEvent } from './wire/sse.ts'
export { costOf, createCostFold, explain } from './cost/cost.ts'
export { createPriceBook } from './cost/price-book.ts'
export type { PriceRow } from './cost/prices.ts'
export { createRedactor, type Redactor } from './redact/redactor.ts'

// The model
export type { BlobRef, Block, Content } from './transcript/block.ts'
export type { Damage } from './transcript/damage.ts'
export { citation, type Call, type Entry, type Origin, type Role } from './transcript/entry.ts'
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
