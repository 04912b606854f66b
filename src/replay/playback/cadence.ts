/**
 * How an answer was typed: the text that each recorded chunk of its stream brought, and when. Empty for what was not streamed, was
 * packed, or says something else than the entry that became of it.
 */
import { asArray, asObject, asString, parseJson, type Json } from '../../transcript/json.ts'
import { createSseParser } from '../../wire/sse.ts'
import type { TapeJson } from '../../wire/tape.ts'
import type { Beat } from './typed.ts'

/** `ms` since the request. */
export type Delta = { readonly ms: number; readonly text: string }

export function deltasOf({ headers, chunks }: TapeJson): readonly Delta[] {
  const isPacked = headers.some(([name, value]) => name === 'content-encoding' && value !== 'identity')
  if (isPacked) return []
  const parser = createSseParser()
  const deltas: Delta[] = []
  for (const [ms, bytes] of chunks)
    for (const event of parser.push(Buffer.from(bytes, 'base64'))) {
      const text = textIn(parseJson(event.data))
      if (text !== '') deltas.push({ ms, text })
    }
  return deltas
}

/** The same without its words, for whoever has them. */
export function beatsOf(deltas: readonly Delta[]): readonly Beat[] {
  return deltas.map(({ ms, text }, at) => [Math.max(0, ms - (deltas[at - 1]?.ms ?? ms)), text.length])
}

/** In whichever of the four APIs it is: each has its own place for text. */
function textIn(event: Json | undefined): string {
  const object = asObject(event)
  if (object === undefined) return ''
  const type = asString(object['type'])
  if (type === 'content_block_delta') return asString(asObject(object['delta'])?.['text']) ?? ''
  if (type === 'response.output_text.delta') return asString(object['delta']) ?? ''
  const choice = asObject(asArray(object['choices'])?.[0])
  if (choice !== undefined) return asString(asObject(choice['delta'])?.['content']) ?? ''
  const candidate = asObject(asArray(object['candidates'])?.[0])
  const parts = asArray(asObject(candidate?.['content'])?.['parts']) ?? []
  return parts
    .map(asObject)
    .filter((part) => part?.['thought'] !== true)
    .map((part) => asString(part?.['text']) ?? '')
    .join('')
}
