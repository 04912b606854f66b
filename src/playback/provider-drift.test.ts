import { describe, expect, it } from 'vitest'
import type { Json } from '../transcript/json.ts'
import { providerDrift, shapeOf } from './provider-drift.ts'

const whole = (body: Json, status = 200) =>
  shapeOf('anthropic-messages', {
    status,
    contentType: 'application/json',
    bytes: Buffer.from(JSON.stringify(body)),
  })
const stream = (...events: readonly Json[]) =>
  shapeOf('anthropic-messages', {
    status: 200,
    contentType: 'text/event-stream',
    bytes: Buffer.from(events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')),
  })
const message = {
  type: 'message',
  model: 'm-1',
  content: [{ type: 'text', text: 'a' }],
  usage: { input_tokens: 1 },
}

describe('a provider', () => {
  it('may say anything, as long as it says it in the same way', () => {
    const other = {
      ...message,
      content: [
        { type: 'text', text: 'something else' },
        { type: 'text', text: 'more' },
      ],
    }
    expect(providerDrift(whole(message), whole(other))).toEqual([])
    const use = (input: Json) => whole({ ...message, content: [{ type: 'tool_use', input }] })
    expect(providerDrift(use({ path: 'x' }), use({ command: 'y' }))).toEqual([])
    expect(providerDrift(whole(message), whole({ type: 'message', model: 'm-1', content: [] }))).toEqual([])
  })

  it('drifts by another model, a new field, a new kind of event, another status', () => {
    expect(providerDrift(whole(message), whole({ ...message, model: 'm-2' }))).toMatchObject([
      { path: 'model', recorded: 'm-1', live: 'm-2' },
    ])
    expect(
      providerDrift(whole(message), whole({ ...message, usage: { input_tokens: 2, carbon: 3 } })),
    ).toMatchObject([{ path: 'message.usage.carbon', kind: 'only-live' }])
    const started = { type: 'message_start', message }
    expect(providerDrift(stream(started), stream(started, { type: 'weather', sky: 'blue' }))).toMatchObject([
      { path: 'event weather' },
      { path: 'weather.type' },
      { path: 'weather.sky' },
    ])
    expect(
      providerDrift(whole(message), whole({ type: 'error', error: { message: 'no' } }, 529)),
    ).toMatchObject([{ path: 'status', recorded: '200', live: '529' }])
  })
})
