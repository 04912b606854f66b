/**
 * An answer made again from its entries, for what no tape has: in the API that is asked, streamed or whole. It says what was recorded and
 * nothing more; how it was cut into frames and when they came is not known, and whoever serves it says that it was made.
 */
import type { JsonObject } from '../transcript/json.ts'
import type { CallApi } from '../wire/call-apis.ts'
import type { PlayedAnswer } from './answer.ts'
import type { EntryAnswer } from './entry-calls.ts'
import { toErrorBody } from './provider-error.ts'
import { anthropicEvents, anthropicMessage } from './regenerate-anthropic.ts'
import { converseFrames, converseMessage, invokeFrames, isInvokable } from './regenerate-bedrock.ts'
import { chatEvents, chatMessage } from './regenerate-chat.ts'
import { geminiMessage } from './regenerate-gemini.ts'
import { responsesEvents, responsesMessage } from './regenerate-responses.ts'

/** An event of a stream: its name, where the API gives it one, and its data. */
export type StreamEvent = readonly [name: string | undefined, data: JsonObject | string]

/** Undefined for an API that nothing is made for. */
export function regenerate(
  answer: EntryAnswer,
  { api, isStream, model }: { readonly api: CallApi; readonly isStream: boolean; readonly model: string },
): PlayedAnswer | undefined {
  const { error, blocks } = answer
  if (error !== undefined && blocks.length === 0) {
    const status = answer.status ?? 500
    const said = { status, message: error.message, ...(error.code !== undefined && { code: error.code }) }
    return whole(toErrorBody(api, said), status)
  }
  const named = { ...answer, model: answer.model ?? model }
  switch (api) {
    case 'anthropic-messages':
      return isStream ? stream(anthropicEvents(named)) : whole(anthropicMessage(named))
    case 'openai-chat':
      return isStream ? stream(chatEvents(named)) : whole(chatMessage(named))
    case 'openai-responses':
      return isStream ? stream(responsesEvents(named)) : whole(responsesMessage(named))
    case 'gemini':
      return isStream ? stream([[undefined, geminiMessage(named)]]) : whole(geminiMessage(named))
    case 'bedrock-invoke':
      if (!isInvokable(model)) return undefined
      return isStream ? framed(invokeFrames(named)) : whole(anthropicMessage(named))
    case 'bedrock-converse':
      return isStream ? framed(converseFrames(named)) : whole(converseMessage(named))
  }
}

function whole(body: JsonObject, status = 200): PlayedAnswer {
  return {
    status,
    headers: [['content-type', 'application/json']],
    frames: [[0, Buffer.from(JSON.stringify(body))]],
    isBroken: false,
    from: 'entries',
  }
}

function stream(events: readonly StreamEvent[]): PlayedAnswer {
  return {
    status: 200,
    headers: [
      ['content-type', 'text/event-stream'],
      ['cache-control', 'no-cache'],
    ],
    frames: events.map(([name, data]) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      return [0, Buffer.from(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`)]
    }),
    isBroken: false,
    from: 'entries',
  }
}

/** As Amazon streams. */
function framed(frames: readonly Buffer[]): PlayedAnswer {
  return {
    status: 200,
    headers: [['content-type', 'application/vnd.amazon.eventstream']],
    frames: frames.map((frame) => [0, frame] as const),
    isBroken: false,
    from: 'entries',
  }
}

export type NamedAnswer = EntryAnswer & { readonly model: string }
