/** What a language model of the AI SDK answers, whole or in parts, as one message. Versions 2 and 3. */
import { messageOf } from '../../errors.ts'
import type { Block } from '../../transcript/block.ts'
import { asCount, isObject } from '../../transcript/json.ts'
import { hasCounts, type Usage } from '../../transcript/usage.ts'
import { fromAnthropicUsage } from '../../wire/anthropic-usage.ts'
import { fromGeminiUsage } from '../../wire/gemini-usage.ts'
import type { WireMessage } from '../../wire/message.ts'
import { fromOpenAiUsage } from '../../wire/openai-usage.ts'
import { toBlock } from './ai-sdk-prompt.ts'
import { field, list, text, toPlain } from './foreign.ts'

export type Parts = {
  push(part: unknown): void
  /** As far as it has come. `error`: why it came no further. */
  end(error?: unknown): WireMessage
}

export function toAnswer(result: unknown, model: unknown): WireMessage {
  const response = field(result, 'response')
  return toMessage(model, {
    blocks: list(field(result, 'content')).map(toBlock),
    usage: field(result, 'usage'),
    finish: field(result, 'finishReason'),
    about: field(result, 'providerMetadata'),
    id: field(response, 'id'),
    modelId: field(response, 'modelId'),
    complete: true,
  })
}

/** Parts of texts and thoughts carry an id: several may be under way at once. */
export function createParts(model: unknown): Parts {
  const open = new Map<string, { kind: 'text' | 'thinking'; pieces: string[]; about: unknown }>()
  const blocks: (() => Block)[] = []
  const seen: { usage?: unknown; finish?: unknown; about?: unknown; id?: unknown; modelId?: unknown } = {}
  let failed: unknown
  let complete = false

  const pieceOf = (kind: 'text' | 'thinking', part: unknown) => {
    const key = `${kind} ${String(field(part, 'id'))}`
    let piece = open.get(key)
    if (piece === undefined) {
      const made = { kind, pieces: [] as string[], about: undefined as unknown }
      piece = made
      open.set(key, made)
      blocks.push(() =>
        toBlock({
          type: kind === 'text' ? 'text' : 'reasoning',
          text: made.pieces.join(''),
          providerMetadata: made.about,
        }),
      )
    }
    piece.about = field(part, 'providerMetadata') ?? piece.about
    return piece
  }

  return {
    push(part) {
      const type = text(field(part, 'type')) ?? ''
      const [, kind, step] = /^(text|reasoning)-(start|delta|end)$/.exec(type) ?? []
      if (kind !== undefined) {
        const piece = pieceOf(kind === 'text' ? 'text' : 'thinking', part)
        if (step === 'delta') piece.pieces.push(text(field(part, 'delta')) ?? '')
        if (step === 'end') open.delete(`${piece.kind} ${String(field(part, 'id'))}`)
      } else if (type === 'response-metadata') {
        seen.id = field(part, 'id') ?? seen.id
        seen.modelId = field(part, 'modelId') ?? seen.modelId
      } else if (type === 'finish') {
        complete = true
        seen.usage = field(part, 'usage')
        seen.finish = field(part, 'finishReason')
        seen.about = field(part, 'providerMetadata')
      } else if (type === 'error') failed = field(part, 'error') ?? 'an error without a word'
      else if (!PASSING.test(type)) {
        const block = toBlock(part)
        blocks.push(() => block)
      }
    },
    end(error) {
      const said = blocks
        .map((block) => block())
        .filter((block) => block.type !== 'text' || block.text !== '')
      return toMessage(model, { ...seen, blocks: said, complete, error: error ?? failed })
    },
  }
}

/** Parts that say again, or ahead, what others say whole. */
const PASSING = /^(tool-input-(start|delta|end)|stream-start|raw|)$/

type Said = {
  readonly blocks: readonly Block[]
  readonly usage?: unknown
  readonly finish?: unknown
  readonly about?: unknown
  readonly id?: unknown
  readonly modelId?: unknown
  readonly complete: boolean
  readonly error?: unknown
}

function toMessage(model: unknown, { blocks, complete, error, ...said }: Said): WireMessage {
  const provider = toProvider(text(field(model, 'provider')))
  const modelId = text(said.modelId) ?? text(field(model, 'modelId'))
  const messageId = text(said.id)
  const stopReason =
    text(said.finish) ?? text(field(said.finish, 'raw')) ?? text(field(said.finish, 'unified'))
  const usage = toUsage(said.usage, provider, said.about)
  return {
    provider,
    role: 'assistant',
    blocks,
    ...(messageId !== undefined && { messageId }),
    ...(modelId !== undefined && { model: modelId }),
    ...(stopReason !== undefined && { stopReason }),
    ...(usage !== undefined
      ? { usage }
      : blocks.length > 0 && { usage: { quality: complete ? ('unavailable' as const) : 'partial' } }),
    ...(error !== undefined && { error: { message: messageOf(error) } }),
    complete,
    unknown: [],
  }
}

/** `openai.responses`, `anthropic.messages`, `google.generative-ai`, `mistral.chat` */
function toProvider(name: string | undefined): string {
  const [first = 'unknown'] = (name ?? 'unknown').split('.')
  if (first === 'azure' || first === 'azure-openai') return 'openai'
  return first === 'vertex' ? 'google' : first
}

/** The provider's own counts where they are given: they say more than the AI SDK's. */
function toUsage(usage: unknown, provider: string, about: unknown): Usage | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined
  const raw = toPlain(field(usage, 'raw'))
  if (isObject(raw)) {
    const own =
      provider === 'anthropic'
        ? fromAnthropicUsage(raw)
        : provider === 'google'
          ? fromGeminiUsage(raw)
          : fromOpenAiUsage(raw)
    if (hasCounts(own)) return own
  }
  const input = field(usage, 'inputTokens')
  const output = field(usage, 'outputTokens')
  if (typeof input === 'object' && input !== null) {
    const cacheRead = asCount(field(input, 'cacheRead'))
    const cacheWrite = asCount(field(input, 'cacheWrite'))
    return toCounts(usage, {
      input:
        asCount(field(input, 'noCache')) ??
        less(asCount(field(input, 'total')), (cacheRead ?? 0) + (cacheWrite ?? 0)),
      cacheRead,
      cacheWrite5m: cacheWrite,
      output: asCount(field(output, 'total')),
      reasoning: asCount(field(output, 'reasoning')),
    })
  }
  // Version 2 hands on Anthropic's input, which is without what was cached, as it is; that of others is with it.
  const cached = asCount(field(usage, 'cachedInputTokens'))
  const total = asCount(input)
  return toCounts(usage, {
    input: provider === 'anthropic' ? total : less(total, cached ?? 0),
    cacheRead: cached,
    cacheWrite5m: asCount(field(field(about, 'anthropic'), 'cacheCreationInputTokens')),
    output: asCount(output),
    reasoning: asCount(field(usage, 'reasoningTokens')),
  })
}

const less = (whole: number | undefined, part: number): number | undefined =>
  whole === undefined ? undefined : Math.max(0, whole - part)

function toCounts(raw: unknown, counts: Readonly<Record<string, number | undefined>>): Usage {
  const known = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined))
  const usage: Usage = { ...known, quality: 'reported', raw: toPlain(raw) }
  return hasCounts(usage) ? usage : { quality: 'unavailable' }
}
