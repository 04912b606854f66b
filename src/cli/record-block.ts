/** A block as a line of `hansard record` spells it. What is none that we know is kept whole, as unknown. */
import type { Block } from '../transcript/block.ts'
import { asArray, asBoolean, asObject, asString, type Json } from '../transcript/json.ts'

export function toBlock(value: Json): Block {
  const block = asObject(value)
  if (block === undefined) return { type: 'unknown', raw: value }
  const text = asString(block['text'])
  const callId = asString(block['callId'])
  const name = asString(block['name'])
  const withCall = callId === undefined ? {} : { callId }
  switch (asString(block['type']) ?? '') {
    case 'text':
      return text === undefined ? { type: 'unknown', raw: value } : { type: 'text', text }
    case 'thinking': {
      const signature = asString(block['signature'])
      const redacted = asString(block['redacted'])
      return {
        type: 'thinking',
        text: text ?? '',
        ...(signature !== undefined && { signature }),
        ...(redacted !== undefined && { redacted }),
      }
    }
    case 'tool-call': {
      if (name === undefined) return { type: 'unknown', raw: value }
      const { input } = block
      return { type: 'tool-call', ...withCall, name, ...(input !== undefined && { input }) }
    }
    case 'tool-result': {
      const output = asString(block['output']) ?? asArray(block['output'])?.map(toBlock)
      const error = asString(block['error'])
      return {
        type: 'tool-result',
        ...withCall,
        ...(name !== undefined && { name }),
        ...(output !== undefined && { output }),
        ...(error !== undefined && { error }),
        ...(asBoolean(block['isError']) === true && { isError: true }),
      }
    }
    case 'image': {
      const mediaType = asString(block['mediaType'])
      const data = asString(block['data'])
      const url = asString(block['url'])
      return {
        type: 'image',
        ...(mediaType !== undefined && { mediaType }),
        ...(data !== undefined && { data }),
        ...(url !== undefined && { url }),
      }
    }
    case 'error': {
      const message = asString(block['message'])
      const code = asString(block['code'])
      if (message === undefined) return { type: 'unknown', raw: value }
      return { type: 'error', message, ...(code !== undefined && { code }) }
    }
    default:
      return { type: 'unknown', raw: value }
  }
}
