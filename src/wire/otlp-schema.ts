/** The messages of OTLP (opentelemetry-proto 1.x) that are read and answered here, field by field. */
import type { Field, Schema } from './protobuf.ts'

const schema = (fields: readonly (readonly [number, Field])[]): Schema => new Map(fields)
const one = (number: number, name: string, kind: Field['kind']) => [number, { name, kind }] as const
const many = (number: number, name: string, kind: Field['kind']) =>
  [number, { name, kind, isList: true }] as const

const ANY_VALUE: Schema = schema([
  one(1, 'stringValue', 'string'),
  one(2, 'boolValue', 'bool'),
  one(3, 'intValue', 'int'),
  one(4, 'doubleValue', 'double'),
  one(5, 'arrayValue', () => ARRAY),
  one(6, 'kvlistValue', () => KEY_VALUES),
  one(7, 'bytesValue', 'base64'),
])
const ARRAY: Schema = schema([many(1, 'values', () => ANY_VALUE)])
const KEY_VALUE: Schema = schema([one(1, 'key', 'string'), one(2, 'value', () => ANY_VALUE)])
const KEY_VALUES: Schema = schema([many(1, 'values', () => KEY_VALUE)])

const RESOURCE = schema([many(1, 'attributes', () => KEY_VALUE)])
const SCOPE = schema([one(1, 'name', 'string'), one(2, 'version', 'string')])

const SPAN_EVENT = schema([
  one(1, 'timeUnixNano', 'nanos'),
  one(2, 'name', 'string'),
  many(3, 'attributes', () => KEY_VALUE),
])
const SPAN_STATUS = schema([one(2, 'message', 'string'), one(3, 'code', 'enum')])
const SPAN = schema([
  one(1, 'traceId', 'hex'),
  one(2, 'spanId', 'hex'),
  one(4, 'parentSpanId', 'hex'),
  one(5, 'name', 'string'),
  one(6, 'kind', 'enum'),
  one(7, 'startTimeUnixNano', 'nanos'),
  one(8, 'endTimeUnixNano', 'nanos'),
  many(9, 'attributes', () => KEY_VALUE),
  many(11, 'events', () => SPAN_EVENT),
  one(15, 'status', () => SPAN_STATUS),
])
const SCOPE_SPANS = schema([one(1, 'scope', () => SCOPE), many(2, 'spans', () => SPAN)])
const RESOURCE_SPANS = schema([one(1, 'resource', () => RESOURCE), many(2, 'scopeSpans', () => SCOPE_SPANS)])
export const TRACES: Schema = schema([many(1, 'resourceSpans', () => RESOURCE_SPANS)])

const LOG_RECORD = schema([
  one(1, 'timeUnixNano', 'nanos'),
  one(5, 'body', () => ANY_VALUE),
  many(6, 'attributes', () => KEY_VALUE),
  one(9, 'traceId', 'hex'),
  one(10, 'spanId', 'hex'),
  one(11, 'observedTimeUnixNano', 'nanos'),
  one(12, 'eventName', 'string'),
])
const SCOPE_LOGS = schema([one(1, 'scope', () => SCOPE), many(2, 'logRecords', () => LOG_RECORD)])
const RESOURCE_LOGS = schema([one(1, 'resource', () => RESOURCE), many(2, 'scopeLogs', () => SCOPE_LOGS)])
export const LOGS: Schema = schema([many(1, 'resourceLogs', () => RESOURCE_LOGS)])

const REJECTED_SPANS = schema([one(1, 'rejectedSpans', 'int'), one(2, 'errorMessage', 'string')])
export const TRACES_ANSWER: Schema = schema([one(1, 'partialSuccess', () => REJECTED_SPANS)])
const REJECTED_LOGS = schema([one(1, 'rejectedLogRecords', 'int'), one(2, 'errorMessage', 'string')])
export const LOGS_ANSWER: Schema = schema([one(1, 'partialSuccess', () => REJECTED_LOGS)])
/** google.rpc.Status, which errors are answered with. */
export const STATUS: Schema = schema([one(1, 'code', 'int'), one(2, 'message', 'string')])
