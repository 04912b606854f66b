/** The parts of an answer, in each API's words: as it is when it comes whole, as the deltas that it comes in, and what it means. */
import type { Block } from '../src/transcript/block.ts'
import type { Json, JsonObject } from '../src/transcript/json.ts'
import type { Random } from './random.ts'

export type Part = {
  readonly whole: JsonObject
  readonly events: readonly JsonObject[]
  readonly block: Block
  /** Where one part means several blocks. */
  readonly before?: Block
  readonly after?: Block
}
type About = { readonly mark: string; readonly serial: number; readonly random: Random }
type Maker = (index: number, about: About) => Part
/** The first makes text. */
export type PartsOf = {
  readonly [api in 'anthropic' | 'chat' | 'responses' | 'gemini' | 'converse']: readonly [Maker, ...Maker[]]
}

const WORDS =
  'plain naïve 日本語 🙂 line\nbreak "quoted" \\ </script> \u2028 data: tab\t {"json":1} \r\n ends. ünïcödé 𝒳'.split(
    ' ',
  )

function words({ mark, random }: About): string {
  return [mark, ...Array.from({ length: 1 + random(6) }, () => WORDS[random(WORDS.length)] ?? '')].join(' ')
}

/** Two parts that are not empty; none cuts a character in two, which no JSON text can say. */
function pieces(text: string, random: Random): string[] {
  const all = Array.from(text)
  const at = 1 + random(all.length - 1)
  return [all.slice(0, at).join(''), all.slice(at).join('')].filter((piece) => piece !== '')
}

function input(about: About): JsonObject {
  return { path: words(about), deep: { list: [about.random(9), words(about), null, true], empty: {} } }
}

const text = (value: string): Block => ({ type: 'text', text: value })
const call = (callId: string, name: string, value: Json): Block => ({
  type: 'tool-call',
  callId,
  name,
  input: value,
})

const start = (index: number, block: JsonObject): JsonObject => ({
  type: 'content_block_start',
  index,
  content_block: block,
})
const delta = (index: number, type: string, fields: JsonObject): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...fields },
})

const anthropic: PartsOf['anthropic'] = [
  (index, about) => {
    const said = words(about)
    const own = pieces(said, about.random).map((piece) => delta(index, 'text_delta', { text: piece }))
    return {
      whole: { type: 'text', text: said },
      events: [start(index, { type: 'text', text: '' }), ...own],
      block: text(said),
    }
  },
  (index, about) => {
    const said = words(about)
    const citation = { type: 'char_location', cited_text: 'x', document_index: 0 }
    return {
      whole: { type: 'text', text: said, citations: [citation] },
      events: [
        start(index, { type: 'text', text: '', citations: [] }),
        delta(index, 'text_delta', { text: said }),
        delta(index, 'citations_delta', { citation }),
      ],
      block: text(said),
    }
  },
  (index, about) => {
    const thinking = words(about)
    const signature = `c2ln${index}`
    return {
      whole: { type: 'thinking', thinking, signature },
      events: [
        start(index, { type: 'thinking', thinking: '', signature: '' }),
        ...pieces(thinking, about.random).map((piece) => delta(index, 'thinking_delta', { thinking: piece })),
        delta(index, 'signature_delta', { signature }),
      ],
      block: { type: 'thinking', text: thinking, signature },
    }
  },
  (index) => {
    const whole = { type: 'redacted_thinking', data: `ZW5j${index}` }
    return {
      whole,
      events: [start(index, whole)],
      block: { type: 'thinking', text: '', redacted: whole.data },
    }
  },
  (index, about) => {
    const value = input(about)
    const use = { type: 'tool_use', id: `toolu_${about.serial}_${index}`, name: 'look' }
    return {
      whole: { ...use, input: value },
      events: [
        start(index, { ...use, input: {} }),
        ...pieces(JSON.stringify(value), about.random).map((piece) =>
          delta(index, 'input_json_delta', { partial_json: piece }),
        ),
      ],
      block: call(use.id, use.name, value),
    }
  },
  (index, { serial }) => {
    const whole = { type: 'tool_use', id: `toolu_${serial}_${index}`, name: 'nothing', input: {} }
    return { whole, events: [start(index, whole)], block: call(whole.id, whole.name, {}) }
  },
  (index, about) => {
    const use = { type: 'server_tool_use', id: `srvtoolu_${about.serial}_${index}`, name: 'web_search' }
    const whole = { ...use, input: { query: words(about) } }
    const partial = JSON.stringify(whole.input)
    return {
      whole,
      events: [
        start(index, { ...use, input: {} }),
        delta(index, 'input_json_delta', { partial_json: partial }),
      ],
      block: { type: 'unknown', raw: whole },
    }
  },
]

const chat: PartsOf['chat'] = [
  (index, about) => {
    // The first is what the message says, in fields of its own; those after it call tools.
    if (index > 0) return toolOf(index - 1, `call_${about.serial}_${index}`, input(about), about.random)
    const content = words(about)
    const thought = about.random(2) === 0 ? words(about) : undefined
    const refusal = about.random(4) === 0 ? words(about) : undefined
    return {
      whole: {
        content,
        ...(thought !== undefined && { reasoning_content: thought }),
        ...(refusal && { refusal }),
      },
      events: [
        ...(thought === undefined ? [] : pieces(thought, about.random)).map((piece) => ({
          reasoning_content: piece,
        })),
        ...pieces(content, about.random).map((piece) => ({ content: piece })),
        ...(refusal === undefined ? [] : [{ refusal }]),
      ],
      block: text(content),
      ...(thought !== undefined && { before: { type: 'thinking', text: thought } }),
      ...(refusal !== undefined && { after: text(refusal) }),
    }
  },
]

function toolOf(index: number, id: string, value: JsonObject, random: Random): Part {
  const given = JSON.stringify(value)
  const made = { index, id, type: 'function', function: { name: 'look', arguments: '' } }
  return {
    whole: { tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: given } }] },
    events: [
      { tool_calls: [made] },
      ...pieces(given, random).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ],
    block: call(id, 'look', value),
  }
}

const item = (
  index: number,
  whole: JsonObject,
  empty: JsonObject,
  deltas: readonly JsonObject[],
): Part['events'] => [
  { type: 'response.output_item.added', output_index: index, item: { ...whole, ...empty } },
  ...deltas.map((one) => ({ item_id: whole['id'] ?? '', output_index: index, ...one })),
  { type: 'response.output_item.done', output_index: index, item: whole },
]

const responses: PartsOf['responses'] = [
  (index, about) => {
    const said = words(about)
    const content = [{ type: 'output_text', text: said, annotations: [] }]
    const whole = { type: 'message', id: `msg_${index}`, role: 'assistant', status: 'completed', content }
    const deltas = pieces(said, about.random).map((piece) => ({
      type: 'response.output_text.delta',
      content_index: 0,
      delta: piece,
    }))
    return { whole, events: item(index, whole, { content: [] }, deltas), block: text(said) }
  },
  (index, about) => {
    const refusal = words(about)
    const content = [{ type: 'refusal', refusal }]
    const whole = { type: 'message', id: `msg_${index}`, role: 'assistant', status: 'completed', content }
    const deltas = [{ type: 'response.refusal.delta', content_index: 0, delta: refusal }]
    return { whole, events: item(index, whole, { content: [] }, deltas), block: text(refusal) }
  },
  (index, about) => {
    const thought = words(about)
    const summary = [{ type: 'summary_text', text: thought }]
    const whole = { type: 'reasoning', id: `rs_${index}`, summary, encrypted_content: `ZW5j${index}` }
    const deltas = pieces(thought, about.random).map((piece) => ({
      type: 'response.reasoning_summary_text.delta',
      summary_index: 0,
      delta: piece,
    }))
    return {
      whole,
      events: item(index, whole, { summary: [] }, deltas),
      block: { type: 'thinking', text: thought, redacted: whole.encrypted_content },
    }
  },
  (index, about) => {
    const value = input(about)
    const given = JSON.stringify(value)
    const use = {
      type: 'function_call',
      id: `fc_${index}`,
      call_id: `call_${about.serial}_${index}`,
      name: 'look',
    }
    const whole = { ...use, arguments: given }
    const deltas = pieces(given, about.random).map((piece) => ({
      type: 'response.function_call_arguments.delta',
      delta: piece,
    }))
    return {
      whole,
      events: item(index, whole, { arguments: '' }, deltas),
      block: call(use.call_id, 'look', value),
    }
  },
  (index, about) => {
    const free = words(about)
    const use = {
      type: 'custom_tool_call',
      id: `ct_${index}`,
      call_id: `call_${about.serial}_${index}`,
      name: 'patch',
    }
    const whole = { ...use, input: free }
    const deltas = [{ type: 'response.custom_tool_call_input.delta', delta: free }]
    return {
      whole,
      events: item(index, whole, { input: '' }, deltas),
      block: call(use.call_id, 'patch', free),
    }
  },
]

const gemini: PartsOf['gemini'] = [
  (index, about) => {
    // Texts that follow each other are one: here each is followed by something else.
    if (index > 0) return functionCall(index, about)
    const said = words(about)
    return {
      whole: { text: said },
      events: pieces(said, about.random).map((piece) => ({ text: piece })),
      block: text(said),
    }
  },
  (index, about) => functionCall(index, about),
  (index) => {
    const data = Buffer.from(`picture ${index}`).toString('base64')
    const whole = { inlineData: { mimeType: 'image/png', data } }
    return { whole, events: [whole], block: { type: 'image', mediaType: 'image/png', data } }
  },
]

function functionCall(index: number, about: About): Part {
  const value = input(about)
  const whole = { functionCall: { id: `fc_${about.serial}_${index}`, name: 'look', args: value } }
  return { whole, events: [whole], block: call(whole.functionCall.id, 'look', value) }
}

const converse: PartsOf['converse'] = [
  (_, about) => {
    const said = words(about)
    const own = pieces(said, about.random).map((piece) => ({ delta: { text: piece } }))
    return { whole: { text: said }, events: own, block: text(said) }
  },
  (_, about) => {
    const thought = words(about)
    const signature = 'c2ln'
    return {
      whole: { reasoningContent: { reasoningText: { text: thought, signature } } },
      events: [
        ...pieces(thought, about.random).map((piece) => ({ delta: { reasoningContent: { text: piece } } })),
        { delta: { reasoningContent: { signature } } },
      ],
      block: { type: 'thinking', text: thought, signature },
    }
  },
  (index, about) => {
    const value = input(about)
    const use = { toolUseId: `tool_${about.serial}_${index}`, name: 'look' }
    const own = pieces(JSON.stringify(value), about.random).map((piece) => ({
      delta: { toolUse: { input: piece } },
    }))
    return {
      whole: { toolUse: { ...use, input: value } },
      events: [{ start: { toolUse: use } }, ...own],
      block: call(use.toolUseId, use.name, value),
    }
  },
]

export const PARTS: PartsOf = { anthropic, chat, responses, gemini, converse }
