/**
 * What the user has settled once: flags win, then `HANSARD_*`, then `hansard.config.json`. The one in the archive's folder is the user's
 * own. The one in the current folder may be anybody's, such as a repository's: it says how things look, and moves, drops and prices nothing.
 */
import fs from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { PriceRow } from '../cost/prices.ts'
import { fromSystemError, HansardError, systemCode } from '../errors.ts'
import { note } from './print.ts'

export type Config = {
  /** The archive's folder; the archive's own default when absent. */
  readonly home?: string
  /** Times in UTC. */
  readonly utc?: boolean
  /** Formats that `record` writes beside the journal. */
  readonly formats?: readonly string[]
  /** Whether sync keeps other programs' bytes: `false` reads them in place, `redacted` keeps them without secrets. */
  readonly keep?: boolean | 'redacted'
  /** Patterns of what sync does not look at. */
  readonly exclude?: readonly string[]
  /** Prices of the user's own: models that they name have these and no others. */
  readonly prices?: readonly PriceRow[]
}

/** Wrong usage, as a flag is that does not exist. */
export class WrongSetting extends HansardError {}

const NAME = 'hansard.config.json'
const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR'])
/** Settings are small; what is not is something else. */
const MOST_BYTES = 4 * 1024 * 1024

/** The settings in force for one command. `flags` are those given on its command line. `tell`: what was not believed. */
export async function loadConfig(
  flags: Config,
  env: NodeJS.ProcessEnv = process.env,
  tell: (text: string) => void = note,
): Promise<Config> {
  const archive = resolve(flags.home ?? (env['HANSARD_HOME'] || join(homedir(), '.hansard')))
  const [own, here] = [join(archive, NAME), resolve(NAME)]
  const settings = await readFile(own)
  const shown =
    here === own ? {} : withoutPower(await readFile(here), (names) => tell(notBelieved(here, names, own)))
  return { ...settings, ...shown, ...readEnv(env), ...known(flags) }
}

function withoutPower(config: Config, onRefused: (names: readonly string[]) => void): Config {
  const { utc, formats, ...refused } = config
  const names = Object.keys(refused)
  if (names.length > 0) onRefused(names)
  return known({ ...(utc !== undefined && { utc }), ...(formats && { formats }) })
}

function notBelieved(path: string, names: readonly string[], own: string): string {
  const are = names.length === 1 ? 'is' : 'are'
  return `hansard: ${path}: ${names.join(', ')} ${are} not taken from the current folder, only from ${own}`
}

function readEnv(env: NodeJS.ProcessEnv): Config {
  const { HANSARD_HOME: home, HANSARD_UTC: utc, HANSARD_FORMATS: formats } = env
  const { HANSARD_KEEP: keep, HANSARD_EXCLUDE: exclude } = env
  return {
    ...(home && { home }),
    ...(utc && { utc: !isNo(utc) }),
    ...(formats && { formats: toList(formats) }),
    ...(keep && { keep: toKeep(keep) }),
    ...(exclude && { exclude: toList(exclude) }),
  }
}

const isNo = (text: string): boolean => NO.has(text.trim().toLowerCase())
const NO: ReadonlySet<string> = new Set(['0', 'false', 'no', 'off', 'none'])
const YES: ReadonlySet<string> = new Set(['1', 'true', 'yes', 'on'])

/** What is mistyped is refused: bytes that were to be kept without secrets, or not at all, would be kept as they are. */
function toKeep(text: string): boolean | 'redacted' {
  const word = text.trim().toLowerCase()
  if (word === 'redacted') return word
  if (isNo(word)) return false
  if (YES.has(word)) return true
  const what = JSON.stringify(text)
  throw new WrongSetting('invalid-argument', `HANSARD_KEEP is ${what}: it takes yes, no or redacted`)
}

const toList = (text: string): string[] => text.split(',').map((part) => part.trim())

function known({ home, utc, formats, keep, exclude, prices }: Config): Config {
  return {
    ...(home !== undefined && { home }),
    ...(utc !== undefined && { utc }),
    ...(formats !== undefined && { formats }),
    ...(keep !== undefined && { keep }),
    ...(exclude !== undefined && { exclude }),
    ...(prices !== undefined && { prices }),
  }
}

async function readFile(path: string): Promise<Config> {
  let text: string
  try {
    // Asked first: most folders have none, and making an error takes longer than asking.
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return {}
    // The folder may be somebody else's, and the name that of a pipe or of a device without an end.
    if (!stat.isFile() && !stat.isDirectory())
      throw new WrongSetting('invalid-argument', `${path} is no file`)
    if (stat.size > MOST_BYTES)
      throw new WrongSetting('invalid-argument', `${path} is too large for settings`)
    text = fs.readFileSync(path, 'utf8')
  } catch (error) {
    // An archive below a file is refused where it is opened, and an agent runs without one.
    if (NOT_THERE.has(systemCode(error) ?? '')) return {}
    throw fromSystemError(error, path)
  }
  // Only here: zod takes longer to load than most commands to run.
  const { z } = await import('zod')
  const price = z.string()
  const prices = { input: price, output: price }
  const cached = {
    cacheRead: price.optional(),
    cacheWrite5m: price.optional(),
    cacheWrite1h: price.optional(),
  }
  const factors = z.record(z.string(), z.string()).optional()
  const Price = z.strictObject({
    id: z.string().min(1),
    provider: z.string(),
    model: z.string().min(1),
    aliases: z.array(z.string()).optional(),
    from: z.string().optional(),
    to: z.string().optional(),
    source: z.string(),
    fetchedAt: z.string(),
    secondary: z.literal(true).optional(),
    note: z.string().optional(),
    ...prices,
    ...cached,
    tiers: z
      .array(z.strictObject({ ...prices, ...cached, abovePromptTokens: z.number().int().min(0) }))
      .optional(),
    upToPromptTokens: z.number().int().min(0).optional(),
    serviceTiers: factors,
    geos: factors,
  })
  const Schema = z.strictObject({
    home: z.string().min(1).optional(),
    utc: z.boolean().optional(),
    formats: z.array(z.string()).optional(),
    keep: z.union([z.boolean(), z.literal('redacted')]).optional(),
    exclude: z.array(z.string()).optional(),
    prices: z.array(Price).optional(),
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new WrongSetting('invalid-argument', `${path} is not JSON`, { cause: error })
  }
  const parsed = Schema.safeParse(value)
  if (parsed.success) {
    const config = known(parsed.data as Config)
    if (config.prices !== undefined) await checkPrices(config.prices, path)
    return { ...config, ...(config.home !== undefined && { home: resolve(dirname(path), config.home) }) }
  }
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.') || NAME
  throw new WrongSetting('invalid-argument', `${path}: ${where}: ${issue?.message ?? 'not valid'}`, {
    hint: 'it may hold home, utc, formats, keep, exclude and prices',
  })
}

/** Here, so that a price that is no amount is a wrong setting for every command, and not a fault of the one that uses it. */
async function checkPrices(prices: readonly PriceRow[], path: string): Promise<void> {
  const { createPriceBook } = await import('../cost/price-book.ts')
  try {
    createPriceBook(prices)
  } catch (error) {
    if (!(error instanceof HansardError)) throw error
    throw new WrongSetting('invalid-argument', `${path}: ${error.message}`, { cause: error })
  }
}
