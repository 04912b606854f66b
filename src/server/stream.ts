/** An answer sent in parts, no faster than they are taken; it ends with whoever asked. */
import type { Context } from 'hono'

export function answerStream(
  c: Context,
  parts: AsyncGenerator<string>,
  headers: Record<string, string>,
): Response {
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await parts.next()
      if (done === true) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await parts.return(undefined)
    },
  })
  return c.body(stream, 200, headers)
}
