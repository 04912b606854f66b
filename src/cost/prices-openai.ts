/** OpenAI's prices. Since 30 July 2026 "fast" is the name of what was "priority"; both are spelled in logs. */
import type { PriceRow } from './prices.ts'

const PAGE = {
  provider: 'openai',
  source: 'https://developers.openai.com/api/docs/pricing',
  fetchedAt: '2026-10-08',
} as const

const HALF = { batch: '0.5', flex: '0.5' }
const TIERS = { ...HALF, priority: '2', fast: '2' }
/** Only the batch price of these is confirmed. */
const BATCH = { batch: '0.5' }

/** Long-context prices begin above this many prompt tokens. */
const LONG = 272_000

type Four = readonly [input: string, cacheRead: string, cacheWrite5m: string, output: string]

/** Models whose cache writes are billed: four prices, and four for long prompts. */
function four(short: Four, long: Four) {
  const prices = ([input, cacheRead, cacheWrite5m, output]: Four) => ({
    input,
    cacheRead,
    cacheWrite5m,
    output,
  })
  return { ...PAGE, ...prices(short), tiers: [{ abovePromptTokens: LONG, ...prices(long) }] }
}

/** Models before cache writes were billed, and without long-context prices. */
function three(input: string, cacheRead: string, output: string) {
  return { ...PAGE, input, cacheRead, output }
}

const SOL = { model: 'gpt-5.6-sol', aliases: ['gpt-5.6'] }

export const OPENAI: readonly PriceRow[] = [
  {
    ...four(['10', '1', '12.50', '50'], ['20', '2', '25', '75']),
    id: 'openai/gpt-6-astra',
    model: 'gpt-6-astra',
    serviceTiers: TIERS,
  },
  {
    ...four(['2', '0.10', '2.50', '10'], ['4', '0.20', '5', '15']),
    id: 'openai/gpt-6.1-sol',
    model: 'gpt-6.1-sol',
    serviceTiers: HALF,
  },
  {
    ...four(['2', '0.20', '2.50', '10'], ['4', '0.40', '5', '15']),
    id: 'openai/gpt-6-sol',
    model: 'gpt-6-sol',
    serviceTiers: TIERS,
  },
  {
    ...four(['0.10', '0.01', '0.125', '0.50'], ['0.20', '0.02', '0.25', '0.75']),
    id: 'openai/gpt-6-luna',
    model: 'gpt-6-luna',
    serviceTiers: TIERS,
  },
  {
    ...four(['5', '0.50', '6.25', '30'], ['10', '1', '12.50', '45']),
    ...SOL,
    id: 'openai/gpt-5.6-sol',
    to: '2026-08-21T00:00:00Z',
    source: 'https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json',
    fetchedAt: '2026-08-08',
    secondary: true,
    serviceTiers: TIERS,
  },
  {
    ...four(['4', '0.40', '5', '20'], ['8', '0.80', '10', '30']),
    ...SOL,
    id: 'openai/gpt-5.6-sol@2026-08-21',
    from: '2026-08-21T00:00:00Z',
    note: 'promised "at least through November 21, 2026"',
    serviceTiers: TIERS,
  },
  {
    ...three('2.50', '0.25', '15'),
    id: 'openai/gpt-5.6-terra',
    model: 'gpt-5.6-terra',
    to: '2026-07-30T00:00:00Z',
    source: 'https://developers.openai.com/changelog/',
    fetchedAt: '2026-08-27',
    secondary: true,
    upToPromptTokens: LONG,
    note: 'launch price; cache writes and long prompts are not known for this time',
    serviceTiers: BATCH,
  },
  {
    ...four(['2', '0.20', '2.50', '12'], ['4', '0.40', '5', '18']),
    id: 'openai/gpt-5.6-terra@2026-07-30',
    model: 'gpt-5.6-terra',
    from: '2026-07-30T00:00:00Z',
    serviceTiers: TIERS,
  },
  {
    ...three('1', '0.10', '6'),
    id: 'openai/gpt-5.6-luna',
    model: 'gpt-5.6-luna',
    to: '2026-07-30T00:00:00Z',
    source: 'https://models.dev/api.json',
    fetchedAt: '2026-07-09',
    secondary: true,
    upToPromptTokens: LONG,
    note: 'launch price; cache writes and long prompts are not known for this time',
    serviceTiers: BATCH,
  },
  {
    ...four(['0.20', '0.02', '0.25', '1.20'], ['0.40', '0.04', '0.50', '1.80']),
    id: 'openai/gpt-5.6-luna@2026-07-30',
    model: 'gpt-5.6-luna',
    from: '2026-07-30T00:00:00Z',
    serviceTiers: TIERS,
  },
  {
    ...three('5', '0.50', '30'),
    id: 'openai/gpt-5.5',
    model: 'gpt-5.5',
    tiers: [{ abovePromptTokens: LONG, input: '10', cacheRead: '1', output: '45' }],
    note: 'sources disagree on priority (2 or 2.5 times), so it has no price',
    serviceTiers: HALF,
  },
  {
    ...PAGE,
    id: 'openai/gpt-5.5-pro',
    model: 'gpt-5.5-pro',
    input: '30',
    output: '180',
    tiers: [{ abovePromptTokens: LONG, input: '60', output: '270' }],
    serviceTiers: BATCH,
  },
  {
    ...three('2.50', '0.25', '15'),
    id: 'openai/gpt-5.4',
    model: 'gpt-5.4',
    tiers: [{ abovePromptTokens: LONG, input: '5', cacheRead: '0.50', output: '22.50' }],
    serviceTiers: HALF,
  },
  {
    ...PAGE,
    id: 'openai/gpt-5.4-pro',
    model: 'gpt-5.4-pro',
    input: '30',
    output: '180',
    tiers: [{ abovePromptTokens: LONG, input: '60', output: '270' }],
    serviceTiers: BATCH,
  },
  {
    ...three('0.75', '0.075', '4.50'),
    id: 'openai/gpt-5.4-mini',
    model: 'gpt-5.4-mini',
    serviceTiers: HALF,
  },
  {
    ...three('0.20', '0.02', '1.25'),
    id: 'openai/gpt-5.4-nano',
    model: 'gpt-5.4-nano',
    serviceTiers: HALF,
  },
  {
    ...three('1.75', '0.175', '14'),
    id: 'openai/gpt-5.3-codex',
    model: 'gpt-5.3-codex',
    serviceTiers: BATCH,
  },
  {
    ...three('1.75', '0.175', '14'),
    id: 'openai/gpt-5.2',
    model: 'gpt-5.2',
    aliases: ['gpt-5.2-codex', 'gpt-5.2-chat'],
    serviceTiers: HALF,
  },
  {
    ...three('1.25', '0.125', '10'),
    id: 'openai/gpt-5.1',
    model: 'gpt-5.1',
    aliases: ['gpt-5.1-codex', 'gpt-5.1-codex-max', 'gpt-5.1-chat'],
    serviceTiers: HALF,
  },
  {
    ...three('1.25', '0.125', '10'),
    id: 'openai/gpt-5',
    model: 'gpt-5',
    aliases: ['gpt-5-codex', 'gpt-5-chat'],
    serviceTiers: HALF,
  },
  {
    ...three('0.25', '0.025', '2'),
    id: 'openai/gpt-5-mini',
    model: 'gpt-5-mini',
    aliases: ['gpt-5.1-codex-mini'],
    serviceTiers: HALF,
  },
  { ...three('0.05', '0.005', '0.40'), id: 'openai/gpt-5-nano', model: 'gpt-5-nano', serviceTiers: HALF },
  { ...three('2', '0.50', '8'), id: 'openai/gpt-4.1', model: 'gpt-4.1', serviceTiers: BATCH },
  { ...three('0.40', '0.10', '1.60'), id: 'openai/gpt-4.1-mini', model: 'gpt-4.1-mini', serviceTiers: BATCH },
  {
    ...three('0.10', '0.025', '0.40'),
    id: 'openai/gpt-4.1-nano',
    model: 'gpt-4.1-nano',
    source: 'https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json',
    fetchedAt: '2026-10-03',
    secondary: true,
    serviceTiers: BATCH,
  },
  { ...three('2.50', '1.25', '10'), id: 'openai/gpt-4o', model: 'gpt-4o', serviceTiers: BATCH },
  {
    ...PAGE,
    id: 'openai/gpt-4o-2024-05-13',
    model: 'gpt-4o-2024-05-13',
    input: '5',
    output: '15',
    serviceTiers: BATCH,
  },
  { ...three('0.15', '0.075', '0.60'), id: 'openai/gpt-4o-mini', model: 'gpt-4o-mini', serviceTiers: BATCH },
  { ...three('2', '0.50', '8'), id: 'openai/o3', model: 'o3', serviceTiers: HALF },
  { ...three('1.10', '0.275', '4.40'), id: 'openai/o4-mini', model: 'o4-mini', serviceTiers: HALF },
]
