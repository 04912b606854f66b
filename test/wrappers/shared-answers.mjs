// Answers made at random, of every kind of delta, cut at random bytes, from a provider on loopback: what is recorded of each should equal
// what the SDKs themselves put together from the same bytes.
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openArchive, parseMessage, readSession } from 'hansard'
import { options, same } from './shared.mjs'

let seed = 20_261_115
const random = (below) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
const WORDS = [
  'plain',
  'naïve',
  '日本語',
  '🙂',
  'line\nbreak',
  '"quoted"',
  '\\',
  '</script>',
  '\u2028',
  'data: x',
  'tab\t',
]
const words = () => Array.from({ length: 1 + random(6) }, () => WORDS[random(WORDS.length)]).join(' ')
const pieces = (text) => {
  const at = random(text.length)
  return [text.slice(0, at), text.slice(at)]
}
const json = () => ({ path: words(), deep: { list: [random(9), words(), null, true], empty: {} } })

const delta = (index, type, fields) => ({ type: 'content_block_delta', index, delta: { type, ...fields } })
const BLOCKS = [
  (index) => [
    { type: 'text', text: '' },
    ...pieces(words()).map((text) => delta(index, 'text_delta', { text })),
  ],
  (index) => [
    { type: 'text', text: '', citations: [] },
    delta(index, 'text_delta', { text: words() }),
    delta(index, 'citations_delta', {
      citation: {
        type: 'char_location',
        cited_text: words(),
        document_index: 0,
        document_title: 'a',
        start_char_index: 0,
        end_char_index: 3,
      },
    }),
  ],
  (index) => [
    { type: 'thinking', thinking: '', signature: '' },
    ...pieces(words()).map((thinking) => delta(index, 'thinking_delta', { thinking })),
    delta(index, 'signature_delta', { signature: `c2ln${random(1000)}` }),
  ],
  () => [{ type: 'redacted_thinking', data: `ZW5j${random(1000)}` }],
  (index, serial) => [
    { type: 'tool_use', id: `toolu_${serial}_${index}`, name: 'look', input: {} },
    ...pieces(JSON.stringify(json())).map((partial) =>
      delta(index, 'input_json_delta', { partial_json: partial }),
    ),
  ],
  (index, serial) => [{ type: 'tool_use', id: `toolu_${serial}_${index}`, name: 'nothing', input: {} }],
  (index, serial) => [
    { type: 'server_tool_use', id: `srvtoolu_${serial}_${index}`, name: 'web_search', input: {} },
    delta(index, 'input_json_delta', { partial_json: JSON.stringify({ query: words() }) }),
  ],
  (index, serial) => [
    {
      type: 'web_search_tool_result',
      tool_use_id: `srvtoolu_${serial}_${index}`,
      content: [
        {
          type: 'web_search_result',
          url: 'https://example.com',
          title: words(),
          encrypted_content: 'e',
          page_age: null,
        },
      ],
    },
  ],
]

function anthropicEvents(serial) {
  const usage = {
    input_tokens: 10 + serial,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 3,
    output_tokens: 1,
  }
  const message = {
    id: `msg_${serial}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  const blocks = Array.from({ length: 1 + random(4) }, (_, index) => {
    const [start, ...deltas] = BLOCKS[random(BLOCKS.length)](index, serial)
    const around = random(3) === 0 ? [{ type: 'ping' }] : []
    return [
      { type: 'content_block_start', index, content_block: start },
      ...around,
      ...deltas,
      { type: 'content_block_stop', index },
    ]
  })
  return [
    { type: 'message_start', message },
    ...blocks.flat(),
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 20 + serial },
    },
    { type: 'message_stop' },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function chatEvents(serial) {
  const chunk = (given, finish = null) => ({
    id: `chatcmpl-${serial}`,
    object: 'chat.completion.chunk',
    created: serial,
    model: 'gpt-5',
    choices: [{ index: 0, delta: given, finish_reason: finish }],
  })
  const calls = Array.from({ length: random(3) }, (_, index) => index)
  const said = random(4) === 0 ? [] : pieces(words()).map((content) => chunk({ content }))
  const events = [
    chunk({ role: 'assistant', content: '' }),
    ...said,
    ...(random(8) === 0 ? [chunk({ refusal: words() })] : []),
    ...calls.map((index) =>
      chunk({
        tool_calls: [
          {
            index,
            id: `call_${serial}_${index}`,
            type: 'function',
            function: { name: 'look', arguments: '' },
          },
        ],
      }),
    ),
    // Parallel calls, their parts in turn.
    ...[0, 1].flatMap((half) =>
      calls.map((index) =>
        chunk({
          tool_calls: [
            {
              index,
              function: { arguments: half === 0 ? '{"a":' : `${JSON.stringify(`${serial} ${index}`)}}` },
            },
          ],
        }),
      ),
    ),
    chunk({}, calls.length > 0 ? 'tool_calls' : 'stop'),
    {
      ...chunk({}),
      choices: [],
      usage: { prompt_tokens: 10 + serial, completion_tokens: 5, total_tokens: 15 + serial },
    },
  ]
  return [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n']
}

/** `packed`: every third answer as gzip, which the SDKs undo. */
export async function startProvider({ packed = false } = {}) {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const serial = Number(/"question (\d+)"/.exec(body)[1])
    const events = request.url.includes('messages') ? anthropicEvents(serial) : chatEvents(serial)
    const plain = Buffer.from(events.join(''))
    const isPacked = packed && serial % 3 === 0
    const bytes = isPacked ? gzipSync(plain) : plain
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      ...(isPacked && { 'content-encoding': 'gzip' }),
    })
    for (let at = 0; at < bytes.length;) {
      const length = 1 + random(400)
      response.write(bytes.subarray(at, at + length))
      at += length
      if (random(4) === 0) await new Promise((done) => setImmediate(done))
    }
    response.end()
  })
  await new Promise((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Twice as many answers as `questions`, as the SDKs put them together. `each`: after every question. */
export async function askAll({ anthropic, openai }, questions, each = async () => {}) {
  const wanted = new Map()
  for (let serial = 0; serial < questions; serial += 1) {
    const messages = [{ role: 'user', content: `question ${serial}` }]
    const message = await anthropic.messages
      .stream({ model: 'claude-opus-5-5', max_tokens: 100, messages })
      .finalMessage()
    wanted.set(message.id, parseMessage('anthropic-messages', message))
    const stream = openai.chat.completions.stream({
      model: 'gpt-5',
      messages,
      stream_options: { include_usage: true },
    })
    const completion = await stream.finalChatCompletion()
    wanted.set(completion.id, parseMessage('openai-chat', completion))
    await each(serial)
  }
  return wanted
}

/** What is in the archive equals what is wanted, all of it. */
export async function compareAll(wanted) {
  const archive = openArchive(options.home)
  let compared = 0
  for (const id of readdirSync(join(options.home, 'sessions'))) {
    for await (const items of readSession(archive, id)) {
      for (const item of items) {
        const message =
          item.type === 'entry' && item.entry.role === 'assistant'
            ? wanted.get(item.entry.call?.messageId)
            : undefined
        if (message === undefined) continue
        const { blocks, usage, stopReason } = item.entry
        same(blocks, message.blocks)
        same(
          [usage.input, usage.cacheRead, usage.output, stopReason],
          [message.usage.input, message.usage.cacheRead, message.usage.output, message.stopReason],
        )
        compared += 1
      }
    }
  }
  same(compared, wanted.size)
}
