/** Anthropic's prices, from its own price page; partner clouds that price apart are shown at these. */
import type { PriceRow } from './prices.ts'

const PAGE = {
  provider: 'anthropic',
  source: 'https://platform.claude.com/docs/en/about-claude/pricing',
  fetchedAt: '2026-10-09',
} as const

/** "50% discount on input and output", which stacks with caching. */
const BATCH = { batch: '0.5' }
/** US-only inference, on every kind of token; models from 4.6 on take it. */
const US = { us: '1.1' }

const PREMIUM = {
  ...PAGE,
  input: '10',
  cacheWrite5m: '12.50',
  cacheWrite1h: '20',
  output: '50',
  serviceTiers: BATCH,
  geos: US,
} as const

const OPUS = {
  ...PAGE,
  input: '5',
  cacheWrite5m: '6.25',
  cacheWrite1h: '10',
  cacheRead: '0.50',
  output: '25',
} as const
const OPUS_4 = {
  ...PAGE,
  input: '15',
  cacheWrite5m: '18.75',
  cacheWrite1h: '30',
  cacheRead: '1.50',
  output: '75',
  serviceTiers: BATCH,
} as const

const SONNET_5 = {
  ...PAGE,
  input: '2',
  cacheWrite5m: '2.50',
  cacheWrite1h: '4',
  cacheRead: '0.20',
  output: '10',
  serviceTiers: BATCH,
  geos: US,
} as const
const SONNET_4 = {
  ...PAGE,
  input: '3',
  cacheWrite5m: '3.75',
  cacheWrite1h: '6',
  cacheRead: '0.30',
  output: '15',
  serviceTiers: BATCH,
} as const
const SONNET_LONG = {
  abovePromptTokens: 200_000,
  input: '6',
  cacheWrite5m: '7.50',
  cacheWrite1h: '12',
  cacheRead: '0.60',
  output: '22.50',
} as const

/** Retired, and no longer on the page: quoted elsewhere. */
const CLAUDE_3 = {
  provider: 'anthropic',
  source: 'https://www.anthropic.com/news/claude-3-family',
  fetchedAt: '2026-10-10',
  secondary: true,
} as const

export const ANTHROPIC: readonly PriceRow[] = [
  { ...PREMIUM, id: 'anthropic/claude-fable-5-1', model: 'claude-fable-5-1', cacheRead: '0.25' },
  { ...PREMIUM, id: 'anthropic/claude-mythos-5-1', model: 'claude-mythos-5-1', cacheRead: '0.25' },
  { ...PREMIUM, id: 'anthropic/claude-fable-5', model: 'claude-fable-5', cacheRead: '1' },
  { ...PREMIUM, id: 'anthropic/claude-mythos-5', model: 'claude-mythos-5', cacheRead: '1' },
  {
    ...PAGE,
    id: 'anthropic/claude-opus-5-5',
    model: 'claude-opus-5-5',
    input: '4',
    cacheWrite5m: '5',
    cacheWrite1h: '8',
    cacheRead: '0.20',
    output: '20',
    serviceTiers: { ...BATCH, fast: '2' },
    geos: US,
  },
  {
    ...OPUS,
    id: 'anthropic/claude-opus-5',
    model: 'claude-opus-5',
    serviceTiers: { ...BATCH, fast: '2' },
    geos: US,
  },
  {
    ...OPUS,
    id: 'anthropic/claude-opus-4-8',
    model: 'claude-opus-4-8',
    serviceTiers: { ...BATCH, fast: '2' },
    geos: US,
  },
  {
    ...OPUS,
    id: 'anthropic/claude-opus-4-7',
    model: 'claude-opus-4-7',
    serviceTiers: { ...BATCH, fast: '6' },
    geos: US,
  },
  {
    ...OPUS,
    id: 'anthropic/claude-opus-4-6',
    model: 'claude-opus-4-6',
    serviceTiers: { ...BATCH, fast: '6' },
    geos: US,
  },
  { ...OPUS, id: 'anthropic/claude-opus-4-5', model: 'claude-opus-4-5', serviceTiers: BATCH },
  { ...OPUS_4, id: 'anthropic/claude-opus-4-1', model: 'claude-opus-4-1' },
  { ...OPUS_4, id: 'anthropic/claude-opus-4', model: 'claude-opus-4', aliases: ['claude-opus-4-0'] },
  {
    ...SONNET_5,
    id: 'anthropic/claude-sonnet-5-5',
    model: 'claude-sonnet-5-5',
    to: '2026-10-07T00:00:00Z',
    source: 'https://platform.claude.com/docs/en/models/sonnet-5-5/overview',
    fetchedAt: '2026-09-29',
  },
  {
    ...SONNET_5,
    id: 'anthropic/claude-sonnet-5-5@2026-10-07',
    model: 'claude-sonnet-5-5',
    from: '2026-10-07T00:00:00Z',
    cacheRead: '0.10',
    note: 'the page said 0.20 on 29 September and 0.10 on 8 October; the day of the change is taken from the release between them',
  },
  {
    ...SONNET_5,
    id: 'anthropic/claude-sonnet-5',
    model: 'claude-sonnet-5',
    note: 'the rise to $3 and $15 announced for 1 September 2026 was cancelled',
  },
  { ...SONNET_4, id: 'anthropic/claude-sonnet-4-6', model: 'claude-sonnet-4-6', geos: US },
  { ...SONNET_4, id: 'anthropic/claude-sonnet-4-5', model: 'claude-sonnet-4-5', tiers: [SONNET_LONG] },
  {
    ...SONNET_4,
    id: 'anthropic/claude-sonnet-4',
    model: 'claude-sonnet-4',
    aliases: ['claude-sonnet-4-0'],
    tiers: [SONNET_LONG],
  },
  {
    ...SONNET_4,
    id: 'anthropic/claude-3-7-sonnet',
    model: 'claude-3-7-sonnet',
    source: 'https://www.anthropic.com/news/claude-3-7-sonnet',
    fetchedAt: '2025-02-24',
    secondary: true,
    note: 'as its announcement is remembered; not read again',
  },
  {
    ...PAGE,
    id: 'anthropic/claude-haiku-5-5',
    model: 'claude-haiku-5-5',
    source: 'https://platform.claude.com/docs/en/models/haiku-5-5/overview',
    input: '0.10',
    cacheWrite5m: '0.125',
    cacheWrite1h: '0.20',
    cacheRead: '0.01',
    output: '0.50',
    tiers: [
      {
        abovePromptTokens: 100_000,
        input: '0.50',
        cacheWrite5m: '0.625',
        cacheWrite1h: '1',
        cacheRead: '0.05',
        output: '2.50',
      },
    ],
    serviceTiers: BATCH,
    geos: US,
  },
  {
    ...PAGE,
    id: 'anthropic/claude-haiku-4-5',
    model: 'claude-haiku-4-5',
    input: '1',
    cacheWrite5m: '1.25',
    cacheWrite1h: '2',
    cacheRead: '0.10',
    output: '5',
    serviceTiers: BATCH,
  },
  {
    ...PAGE,
    id: 'anthropic/claude-3-5-haiku',
    model: 'claude-3-5-haiku',
    aliases: ['claude-haiku-3-5'],
    input: '0.80',
    cacheWrite5m: '1',
    cacheWrite1h: '1.60',
    cacheRead: '0.08',
    output: '4',
    serviceTiers: BATCH,
  },
  {
    ...CLAUDE_3,
    id: 'anthropic/claude-3-5-sonnet',
    model: 'claude-3-5-sonnet',
    input: '3',
    cacheWrite5m: '3.75',
    cacheRead: '0.30',
    output: '15',
  },
  {
    ...CLAUDE_3,
    id: 'anthropic/claude-3-opus',
    model: 'claude-3-opus',
    input: '15',
    cacheWrite5m: '18.75',
    cacheRead: '1.50',
    output: '75',
  },
  { ...CLAUDE_3, id: 'anthropic/claude-3-sonnet', model: 'claude-3-sonnet', input: '3', output: '15' },
  { ...CLAUDE_3, id: 'anthropic/claude-3-haiku', model: 'claude-3-haiku', input: '0.25', output: '1.25' },
]
