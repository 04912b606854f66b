/** A call of the AI SDK in our words: its prompt as messages, everything else as it is. Versions 2 and 3 of its language models. */
import type { Block } from '../../transcript/block.ts'
import type { Role } from '../../transcript/entry.ts'
import type { RequestMessage, WireRequest } from '../../wire/request.ts'
import {
  field,
  list,
  text,
  toFileBlock,
  toInput,
  toOutput,
  toPlain,
  toPlainFields,
  toolResult,
} from './foreign.ts'

/** What changes with every call, cannot be written down, or may hold keys. */
const LEFT_OUT: ReadonlySet<string> = new Set(['prompt', 'abortSignal', 'headers', 'includeRawChunks'])
const ROLES: ReadonlySet<string> = new Set(['system', 'user', 'assistant', 'tool'])

export function toRequest(params: unknown, model: string | undefined, stream: boolean): WireRequest {
  const messages: RequestMessage[] = []
  const system: Block[] = []
  for (const message of list(field(params, 'prompt'))) {
    const role = text(field(message, 'role')) ?? 'user'
    const content = field(message, 'content')
    const blocks: readonly Block[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : list(content).map(toBlock)
    if (role === 'system') system.push(...blocks)
    else messages.push({ role: ROLES.has(role) ? (role as Role) : 'user', blocks })
  }
  const rest = typeof params === 'object' && params !== null ? Object.entries(params) : []
  const parameters = toPlainFields(Object.fromEntries(rest.filter(([name]) => !LEFT_OUT.has(name))))
  return {
    ...(system.length > 0 && { system: { blocks: system } }),
    messages,
    ...(model !== undefined && { model }),
    stream,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    unknown: [],
  }
}

/** A part of a prompt or of an answer. */
export function toBlock(part: unknown): Block {
  switch (field(part, 'type')) {
    case 'text':
      return { type: 'text', text: text(field(part, 'text')) ?? '' }
    case 'reasoning':
      return { type: 'thinking', text: text(field(part, 'text')) ?? '', ...signatureOf(part) }
    case 'tool-call': {
      const callId = text(field(part, 'toolCallId'))
      return {
        type: 'tool-call',
        ...(callId !== undefined && { callId }),
        name: text(field(part, 'toolName')) ?? 'unknown',
        input: toInput(field(part, 'input') ?? field(part, 'args')),
      }
    }
    case 'tool-result':
      return toResult(part)
    case 'file':
    case 'image':
      return toFileBlock(
        field(part, 'mediaType') ?? field(part, 'mimeType'),
        field(part, 'data') ?? field(part, 'image'),
      )
    default:
      return { type: 'unknown', raw: toPlain(part) }
  }
}

/** In a prompt `output` says of what kind it is; in an answer of a tool that the provider ran it is `result`. */
function toResult(part: unknown): Block {
  const callId = field(part, 'toolCallId')
  const name = field(part, 'toolName')
  const output = field(part, 'output')
  const kind = field(output, 'type')
  if (kind === undefined)
    return toolResult(
      callId,
      name,
      toOutput(field(part, 'result') ?? output),
      field(part, 'isError') === true,
    )
  const value = field(output, 'value')
  const isError = kind === 'error-text' || kind === 'error-json' || kind === 'execution-denied'
  if (kind === 'content') return toolResult(callId, name, list(value).map(toContentBlock))
  return toolResult(callId, name, toOutput(value ?? field(output, 'reason') ?? ''), isError)
}

function toContentBlock(part: unknown): Block {
  const kind = text(field(part, 'type')) ?? ''
  if (kind === 'text') return toBlock(part)
  if (/^(media|file-data|image-data|file-url|image-url)$/.test(kind))
    return toFileBlock(
      field(part, 'mediaType') ?? (kind.startsWith('image') ? 'image/*' : undefined),
      field(part, 'data') ?? field(part, 'url'),
    )
  return { type: 'unknown', raw: toPlain(part) }
}

function signatureOf(part: unknown): { readonly signature?: string } {
  const said = field(part, 'providerMetadata') ?? field(part, 'providerOptions')
  const signature = text(field(field(said, 'anthropic'), 'signature'))
  return signature === undefined ? {} : { signature }
}
