import { describe, expect, it } from 'vitest'
import { isNotBilled, modelNames } from './models.ts'
import { createPriceBook } from './price-book.ts'
import { PRICE_ROWS } from './prices.ts'

const AT = '2026-11-01T00:00:00Z'

/** What people, clouds and gateways write, and the model it is. */
const SPELLINGS: readonly (readonly [string, string])[] = [
  ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
  ['Claude-Opus-4-5', 'claude-opus-4-5'],
  ['claude-opus-4.5', 'claude-opus-4-5'],
  ['claude-4.5-opus-thinking', 'claude-opus-4-5'],
  ['claude-4-sonnet-20250514', 'claude-sonnet-4'],
  ['claude-sonnet-4-20250514', 'claude-sonnet-4'],
  ['claude-sonnet-4-0', 'claude-sonnet-4'],
  ['claude-sonnet-4-5[1m]', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5@20250929', 'claude-sonnet-4-5'],
  ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  ['global.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6'],
  ['eu.anthropic.claude-haiku-4-5-20251001-v1:0', 'claude-haiku-4-5'],
  ['anthropic.claude-haiku-5-5', 'claude-haiku-5-5'],
  ['anthropic.claude-3-5-haiku-20241022-v1:0:48k', 'claude-3-5-haiku'],
  [
    'arn:aws:bedrock:us-east-1:1234:inference-profile/us.anthropic.claude-opus-4-1-20250805-v1:0',
    'claude-opus-4-1',
  ],
  ['bedrock/us.anthropic.claude-opus-5-5', 'claude-opus-5-5'],
  ['vertex_ai/claude-opus-4-1@20250805', 'claude-opus-4-1'],
  ['publishers/anthropic/models/claude-fable-5-1@default', 'claude-fable-5-1'],
  ['openrouter/anthropic/claude-sonnet-5.5', 'claude-sonnet-5-5'],
  ['anthropic/claude-3.7-sonnet', 'claude-3-7-sonnet'],
  ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet'],
  ['claude-3-5-haiku-latest', 'claude-3-5-haiku'],
  ['openai/gpt-5-2025-08-07', 'gpt-5'],
  ['azure/gpt-5.6-sol', 'gpt-5.6-sol'],
  ['gpt-5.6', 'gpt-5.6-sol'],
  ['gpt-5-chat-latest', 'gpt-5'],
  ['gpt-4o-2024-05-13', 'gpt-4o-2024-05-13'],
  ['gpt-4o-2024-11-20', 'gpt-4o'],
  ['o4-mini-2025-04-16', 'o4-mini'],
  ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
  ['google/gemini-2.5-flash-preview-05-20', 'gemini-2.5-flash'],
  ['gemini-2.5-flash-lite-preview-09-2025', 'gemini-2.5-flash-lite'],
  ['gemini/gemini-3-pro-preview', 'gemini-3-pro'],
]

describe('model ids', () => {
  it.each(SPELLINGS)('%s is %s', (id, model) => {
    const found = createPriceBook().find(id, AT)
    expect('row' in found && found.row.model).toBe(model)
  })

  it('gives no price to a model it does not know, however alike', () => {
    const book = createPriceBook()
    const others = [
      'claude-opus-9',
      'claude-opus-4-5-turbo',
      'my-claude-opus-4-5',
      'gpt-5-ultra',
      'gpt-50',
      'o30',
      'gemini-2.5-pro-tts',
      'someone/claude-opus-4-5',
      'deepseek/deepseek-v4',
      'anthropic/claude-opus-4.5:free',
      '__proto__',
      '',
      '/',
      'x'.repeat(10_000),
    ]
    for (const id of others) expect(book.find(id, AT)).toHaveProperty('unpriced')
  })

  it('finds at most one row for any id at any instant', () => {
    const instants = PRICE_ROWS.flatMap(({ from, to }) => [from, to])
      .filter((instant) => instant !== undefined)
      .flatMap((instant) => [
        new Date(Date.parse(instant) - 1).toISOString(),
        new Date(instant).toISOString(),
      ])
    const ids = PRICE_ROWS.flatMap(({ model, aliases = [] }) => [model, ...aliases])
    const spelled = [...ids, ...SPELLINGS.map(([id]) => id), ...ids.map((id) => `${id}-20260101`)]
    for (const id of spelled) {
      const name = modelNames(id).find((candidate) => ids.includes(candidate))
      for (const at of ['2020-01-01T00:00:00.000Z', ...instants, '2099-01-01T00:00:00.000Z']) {
        const matching = PRICE_ROWS.filter(
          ({ model, aliases = [], from = '', to = '9999' }) =>
            [model, ...aliases].includes(name ?? '') && from <= at && at < to,
        )
        expect(matching.map((row) => row.id)).toHaveLength(1)
      }
    }
  })

  it('spells every name in the table as it would find it', () => {
    for (const { model, aliases = [] } of PRICE_ROWS) {
      for (const name of [model, ...aliases]) expect(modelNames(name)).toContain(name)
    }
  })

  it('knows who answers without a provider', () => {
    for (const id of ['<synthetic>', 'claude-stub', 'stub']) expect(isNotBilled(id)).toBe(true)
    for (const id of ['claude-opus-5', '<a><b>', 'stubborn', '']) expect(isNotBilled(id)).toBe(false)
  })
})
