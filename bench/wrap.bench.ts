/**
 * What a wrapper adds to a streamed call: from the question to the last word, through the platform's fetch and through a recorded one, in
 * turn, against the same provider. The client parses each event, as all SDKs do, and each call goes on with one conversation, as an
 * agent's do; in a row of their own, each begins one.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { recording } from '../src/capture/wrap/recording.ts'
import type { Bench } from './bench.ts'
import { atMost, median } from './measure.ts'

export const bench: Bench = async ({ quick }) => {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-bench-'))
  const worker = new Worker(new URL('./wrap-provider.js', import.meta.url))
  const port = await new Promise<number>((done) => worker.once('message', done))
  const recorded = recording({ home: folder, cwd: folder })
  const ways = { direct: globalThis.fetch, wrapped: recorded.fetch }

  const measure = async (events: number, pause: number, rounds: number, isFirst = false) => {
    const times = { direct: [] as number[], wrapped: [] as number[] }
    heard = ''
    const url = `http://127.0.0.1:${port}/v1/chat/completions?events=${events}&pause=${pause}`
    for (let round = -2; round < rounds; round += 1) {
      // Who is first takes what the other has left behind.
      const order = round % 2 === 0 ? (['direct', 'wrapped'] as const) : (['wrapped', 'direct'] as const)
      for (const way of order) {
        if (isFirst) heard = ''
        const began = performance.now()
        await ask(ways[way], url, isFirst ? `${way} ${round}` : String(round))
        const wall = performance.now() - began
        // What is recorded when the caller has its answer takes no part of the next call.
        await new Promise((done) => setTimeout(done, 30))
        if (round >= 0) times[way].push(wall)
      }
    }
    return times
  }
  const model = await measure(200, 4, quick ? 6 : 14)
  const blast = await measure(2000, 0, quick ? 11 : 41)
  // Last: each of these leaves a session open.
  const first = await measure(200, 4, quick ? 6 : 14, true)
  await recorded.end()
  await worker.terminate()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const row = (name: string, { direct, wrapped }: typeof model) => {
    const [from, to] = [median(direct), median(wrapped)]
    return atMost(name, to / from, 1.03, `${to.toFixed(1)} ms against ${from.toFixed(1)} ms`)
  }
  return [
    row('wrapped fetch, 200 events of a fast model', model),
    row('wrapped fetch, 2,000 events at once', blast),
    row('wrapped fetch, first call of a session, 200 events of a fast model', first),
  ]
}

async function ask(fetch: typeof globalThis.fetch, url: string, round: string): Promise<void> {
  const messages = [
    { role: 'user', content: 'hello' },
    ...(heard === '' ? [] : [{ role: 'assistant', content: heard }]),
    { role: 'user', content: `question ${round} ${'with some context '.repeat(100)}` },
  ]
  const body = JSON.stringify({ model: 'gpt-bench', stream: true, messages })
  const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  const decoder = new TextDecoder()
  let text = ''
  let words = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true })
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = event.slice('data: '.length)
      if (data === '[DONE]') continue
      const { choices } = JSON.parse(data) as Event
      words += choices[0]?.delta.content ?? ''
    }
  }
  heard = words
}

type Event = { readonly choices: readonly { readonly delta: { readonly content?: string } }[] }

/** What the provider said last: the next question goes on with it. */
let heard = ''
