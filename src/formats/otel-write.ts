/**
 * Sessions as OTLP's JSON, an export on each line, by the GenAI conventions: a `chat` span for each answer, with what was said since the
 * one before it and its counts; an `execute_tool` span for each result; an `invoke_agent` span around those of an agent. What the
 * conventions have no attribute for is carried along in ours, so that a session reads back as it was.
 */
import { isSafeId, uuidFrom } from '../transcript/ids.ts'
import { toJson, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import type { FileOperation, WriteContext, Writer } from './format.ts'
import { attributesOf } from './otel-attributes.ts'
import { createTrace } from './otel-trace.ts'
import { loseBlobs } from './own-facts.ts'
import { checkFree } from './written-lines.ts'

export const otelWriter: Writer = {
  root: 'otel',
  ignored: () => '.',
  begin(session, context) {
    const name = isSafeId(session.id) ? session.id : uuidFrom(session.id)
    const path = checkFree(`${name}.otlp.jsonl`, context)
    const trace = createTrace(session, context)
    const append = (spans: readonly JsonObject[]): FileOperation[] =>
      spans.length === 0
        ? []
        : [
            {
              op: 'append',
              path,
              text: spans.map((span) => `${toJson(toExport(span, session, context))}\n`).join(''),
            },
          ]
    return {
      start: () => [],
      entry(entry) {
        loseBlobs(entry, context)
        return append(trace.entry(entry))
      },
      end(ended) {
        context.lost(undefined, 'session id')
        return append(trace.end(ended))
      },
    }
  },
}

/** One span in an export of its own: every line can be read alone. */
function toExport(
  span: JsonObject,
  { agent, version }: Session,
  { version: own }: Pick<WriteContext, 'version'>,
): JsonObject {
  const resource = attributesOf({
    'service.name': agent ?? 'unknown',
    ...(version !== undefined && { 'service.version': version }),
  })
  return {
    resourceSpans: [
      {
        resource: { attributes: resource },
        scopeSpans: [{ scope: { name: 'hansard', version: own }, spans: [span] }],
      },
    ],
  }
}
