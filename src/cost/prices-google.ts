/** Google's prices for text on the Gemini API's paid tier. Storing a cache by the hour and audio are not in them. */
import type { PriceRow } from './prices.ts'

const PAGE = {
  provider: 'google',
  source: 'https://ai.google.dev/gemini-api/docs/pricing',
  fetchedAt: '2026-09-27',
  // Both "50% off": https://ai.google.dev/gemini-api/docs/optimization. Priority is given as a range, and has no price.
  serviceTiers: { batch: '0.5', flex: '0.5' },
} as const

const FLASH = { ...PAGE, input: '1.50', cacheRead: '0.15', output: '7.50' } as const
/** "through December 31, 2026" */
const HALF_FLASH = {
  ...PAGE,
  input: '0.75',
  cacheRead: '0.075',
  output: '3.75',
  to: '2027-01-01T00:00:00Z',
} as const
const FULL_FLASH = { ...FLASH, from: '2027-01-01T00:00:00Z' } as const

const PRO = {
  ...PAGE,
  input: '2',
  cacheRead: '0.20',
  output: '12',
  tiers: [{ abovePromptTokens: 200_000, input: '4', cacheRead: '0.40', output: '18' }],
} as const

export const GOOGLE: readonly PriceRow[] = [
  { ...PRO, id: 'google/gemini-3.1-pro', model: 'gemini-3.1-pro', aliases: ['gemini-3.1-pro-preview'] },
  { ...PRO, id: 'google/gemini-3-pro', model: 'gemini-3-pro', aliases: ['gemini-3-pro-preview'] },
  { ...HALF_FLASH, id: 'google/gemini-3.8-flash', model: 'gemini-3.8-flash' },
  { ...FULL_FLASH, id: 'google/gemini-3.8-flash@2027-01-01', model: 'gemini-3.8-flash' },
  { ...HALF_FLASH, id: 'google/gemini-3.7-flash', model: 'gemini-3.7-flash' },
  { ...FULL_FLASH, id: 'google/gemini-3.7-flash@2027-01-01', model: 'gemini-3.7-flash' },
  {
    ...FLASH,
    id: 'google/gemini-3.6-flash',
    model: 'gemini-3.6-flash',
    to: '2026-09-02T00:00:00Z',
    source: 'https://ai.google.dev/gemini-api/docs/whats-new-gemini-3.6',
    fetchedAt: '2026-07-21',
  },
  {
    ...HALF_FLASH,
    id: 'google/gemini-3.6-flash@2026-09-02',
    model: 'gemini-3.6-flash',
    from: '2026-09-02T00:00:00Z',
    note: 'the first day on which the lower price was seen',
  },
  { ...FULL_FLASH, id: 'google/gemini-3.6-flash@2027-01-01', model: 'gemini-3.6-flash' },
  {
    ...PAGE,
    id: 'google/gemini-3.5-flash',
    model: 'gemini-3.5-flash',
    input: '1.50',
    cacheRead: '0.15',
    output: '9',
  },
  {
    ...PAGE,
    id: 'google/gemini-3.5-flash-lite',
    model: 'gemini-3.5-flash-lite',
    input: '0.30',
    cacheRead: '0.03',
    output: '2.50',
  },
  {
    ...PAGE,
    id: 'google/gemini-3.1-flash-lite',
    model: 'gemini-3.1-flash-lite',
    aliases: ['gemini-3.1-flash-lite-preview'],
    input: '0.25',
    cacheRead: '0.025',
    output: '1.50',
  },
  {
    ...PAGE,
    id: 'google/gemini-3-flash',
    model: 'gemini-3-flash',
    aliases: ['gemini-3-flash-preview'],
    fetchedAt: '2026-07-04',
    input: '0.50',
    cacheRead: '0.05',
    output: '3',
  },
  {
    ...PAGE,
    id: 'google/gemini-2.5-pro',
    model: 'gemini-2.5-pro',
    aliases: ['gemini-2.5-pro-preview'],
    input: '1.25',
    cacheRead: '0.125',
    output: '10',
    tiers: [{ abovePromptTokens: 200_000, input: '2.50', cacheRead: '0.25', output: '15' }],
  },
  {
    ...PAGE,
    id: 'google/gemini-2.5-flash',
    model: 'gemini-2.5-flash',
    aliases: ['gemini-2.5-flash-preview'],
    input: '0.30',
    cacheRead: '0.03',
    output: '2.50',
  },
  {
    ...PAGE,
    id: 'google/gemini-2.5-flash-lite',
    model: 'gemini-2.5-flash-lite',
    aliases: ['gemini-2.5-flash-lite-preview'],
    input: '0.10',
    cacheRead: '0.01',
    output: '0.40',
  },
]
