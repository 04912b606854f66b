/**
 * What a provider billed, held against what Hansard lists. Counts are made disjoint here by rules of this file's own, so that a
 * mistake in the readers cannot hide in both sides.
 */
import {
  asCount,
  asObject,
  asString,
  isObject,
  parseJson,
  type JsonObject,
} from '../../src/transcript/json.ts'
import { COUNTS, type Usage } from '../../src/transcript/usage.ts'

export type LedgerRow = {
  readonly api: string
  readonly id: string
  readonly model?: string
  /** Absent where the client was told no count. */
  readonly usage?: JsonObject
  readonly cut?: boolean
  readonly play?: string
}

type Count = (typeof COUNTS)[number]
/** Sums; a count that nobody states adds nothing. */
export type Sums = Readonly<Record<Count, number>>

/** What only some versions of a client write down, by the name that it has in its files. */
const SOMETIMES: Partial<Record<Count, { readonly api: string; readonly field: string }>> = {
  reasoning: { api: 'anthropic', field: 'thinking_tokens' },
}

export type ListedSession = { readonly calls?: number; readonly usage?: Partial<Usage> }

export type Comparison = {
  readonly billed: number
  readonly logged: number
  /** Calls that no file of the client names: nothing can be read of them. */
  readonly unlogged: readonly LedgerRow[]
  /** Counts that its files have no field for, with what was billed. */
  readonly unsaid: Partial<Sums>
  readonly calls: number
  readonly ledger: Sums
  readonly hansard: Sums
  /** In words, one for each count that is not the same. */
  readonly differences: readonly string[]
}

export function parseLedger(text: string): readonly LedgerRow[] {
  return text.split('\n').flatMap((line) => {
    const row = line === '' ? undefined : parseJson(line)
    const [api, id] = [asString(asObject(row)?.['api']), asString(asObject(row)?.['id'])]
    if (!isObject(row) || api === undefined || id === undefined) return []
    const [model, usage, play] = [asString(row['model']), asObject(row['usage']), asString(row['play'])]
    const stated = { ...(model !== undefined && { model }), ...(usage && { usage }), ...(play && { play }) }
    return [{ api, id, ...stated, ...(row['cut'] === true && { cut: true }) }]
  })
}

/** `isNamed` tells whether the client's files have a name in quotes. Only what they name can be expected in the list. */
export function compare(
  rows: readonly LedgerRow[],
  isNamed: (id: string) => boolean,
  sessions: readonly ListedSession[],
): Comparison {
  const logged = rows.filter(({ id }) => isNamed(id))
  const stated = sum(logged.map(countsOf))
  const hansard = sum(sessions.map(({ usage = {} }) => usage))
  const unsaid = COUNTS.filter((count) => {
    const { api, field } = SOMETIMES[count] ?? {}
    const isNowhere = field !== undefined && logged[0]?.api === api && !isNamed(field)
    // What the client printed, or its provider was heard to say, may have what its files have not.
    return isNowhere && stated[count] > 0 && stated[count] !== hansard[count]
  })
  const ledger = { ...stated, ...Object.fromEntries(unsaid.map((count) => [count, 0])) }
  const calls = sessions.reduce((total, session) => total + (session.calls ?? 0), 0)
  const told = logged.filter(({ usage }) => usage !== undefined).length
  const isVouched = sessions.every(({ usage }) => usage?.quality === 'reported')
  return {
    billed: rows.length,
    logged: logged.length,
    unlogged: rows.filter(({ id }) => !isNamed(id)),
    unsaid: Object.fromEntries(unsaid.map((count) => [count, stated[count]])),
    calls,
    ledger,
    hansard,
    differences: [
      ...(calls === told ? [] : [`calls: ${told} in the ledger, ${calls} listed`]),
      ...(isVouched && logged.some(({ cut, usage }) => cut && usage !== undefined)
        ? ['a call that was cut is listed as exact']
        : []),
      ...COUNTS.filter((count) => ledger[count] !== hansard[count]).map(
        (count) => `${count}: ${ledger[count]} in the ledger, ${hansard[count]} listed`,
      ),
    ],
  }
}

/** Anthropic's counts are disjoint. OpenAI's input includes what was cached, its output what was reasoned. */
export function countsOf({ api, usage }: LedgerRow): Partial<Sums> {
  const stated = (...path: readonly string[]): number => {
    const [last = '', ...above] = path.toReversed()
    const holder = above.toReversed().reduce<JsonObject | undefined>((at, key) => asObject(at?.[key]), usage)
    return asCount(holder?.[last]) ?? 0
  }
  if (api === 'anthropic') {
    const long = stated('cache_creation', 'ephemeral_1h_input_tokens')
    return {
      input: stated('input_tokens'),
      cacheRead: stated('cache_read_input_tokens'),
      cacheWrite5m: stated('cache_creation_input_tokens') - long,
      cacheWrite1h: long,
      output: stated('output_tokens'),
      reasoning: stated('output_tokens_details', 'thinking_tokens'),
    }
  }
  if (api === 'gemini') {
    const cacheRead = stated('cachedContentTokenCount')
    return {
      input: stated('promptTokenCount') - cacheRead,
      cacheRead,
      output: stated('candidatesTokenCount') + stated('thoughtsTokenCount'),
      reasoning: stated('thoughtsTokenCount'),
    }
  }
  if (api === 'openai-chat') {
    const cacheRead = stated('prompt_tokens_details', 'cached_tokens')
    return {
      input: stated('prompt_tokens') - cacheRead,
      cacheRead,
      output: stated('completion_tokens'),
      reasoning: stated('completion_tokens_details', 'reasoning_tokens'),
    }
  }
  const cacheRead = stated('input_tokens_details', 'cached_tokens')
  const cacheWrite5m = stated('input_tokens_details', 'cache_write_tokens')
  return {
    input: stated('input_tokens') - cacheRead - cacheWrite5m,
    cacheRead,
    cacheWrite5m,
    output: stated('output_tokens'),
    reasoning: stated('output_tokens_details', 'reasoning_tokens'),
  }
}

function sum(all: readonly Partial<Record<Count, unknown>>[]): Sums {
  const total = (count: Count): number => all.reduce((so, counts) => so + (asCount(counts[count]) ?? 0), 0)
  return Object.fromEntries(COUNTS.map((count) => [count, total(count)])) as Record<Count, number>
}
