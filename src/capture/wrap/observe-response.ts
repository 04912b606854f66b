/** A response that is the original in all but this: what is read of its body is seen by somebody else as well. */
import type { AnswerHead } from '../calls/answer.ts'
import { isReadDirectly } from './observed-readers.ts'
import { observeStream, type StreamWatch } from './observe-stream.ts'

export type ResponseWatch = StreamWatch & { readonly response: (head: AnswerHead) => void }

/**
 * The original itself where it has no body, or one that cannot be read through: `unread` is then told why. Its headers say how it was
 * packed; what is read from it is unpacked.
 */
export function observeResponse(
  response: unknown,
  watch: ResponseWatch,
  unread: (why: string) => void,
): unknown {
  if (!isResponse(response)) {
    unread('the answer is no Response')
    return response
  }
  const headers = Object.fromEntries(response.headers)
  delete headers['content-encoding']
  watch.response({ status: response.status, headers })
  const { body } = response
  if (body === null || body === undefined) {
    void watch.ended()
    return response
  }
  if (typeof body.getReader !== 'function' || body.locked) {
    unread('the answer’s body is no web stream')
    return response
  }
  try {
    return sameAs(response, rebuild(response, observeStream(body, watch)))
  } catch {
    unread('a Response of this kind cannot be made')
    return response
  }
}

function isResponse(value: unknown): value is Response {
  if (typeof value !== 'object' || value === null || !('headers' in value) || !('status' in value))
    return false
  const { headers, status } = value
  return typeof status === 'number' && typeof headers === 'object' && Symbol.iterator in (headers ?? {})
}

/** Of the class that the original is of: some bring their own. */
function rebuild(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { status, statusText, headers } = response
  const init = { status, statusText, headers }
  const own: unknown = response.constructor
  return typeof own === 'function' && own !== Response
    ? (Reflect.construct(own, [body, init]) as Response)
    : new Response(body, init)
}

/** What the constructor takes no word for, and what the original knows of its body. Copies of it are the same as well. */
function sameAs(original: Response, response: Response): Response {
  const { url, redirected, type } = original
  const { body } = response
  const copy = response.clone.bind(response)
  const kind = Object.getPrototypeOf(response) as object
  const isUsed = (): boolean => body !== null && isReadDirectly(body)
  const ways = WAYS.filter((name) => typeof response[name] === 'function')
  return Object.defineProperties(response, {
    url: { value: url },
    redirected: { value: redirected },
    type: { value: type },
    bodyUsed: { get: () => isUsed() || Reflect.get(kind, 'bodyUsed', response) === true },
    clone: { value: () => (isUsed() ? original.clone() : sameAs(original, copy())) },
    // Of what has been read the original says what it says of that.
    ...Object.fromEntries(
      ways.map((name) => {
        const whole = response[name].bind(response)
        return [name, { value: () => (isUsed() ? original[name]() : whole()) }]
      }),
    ),
  })
}

/** To have all of a body at once. */
const WAYS = ['text', 'json', 'arrayBuffer', 'blob', 'formData'] as const
