/**
 * Names that say that a secret follows: of headers, JSON keys, variables, options and query parameters. `strong` names are
 * believed whatever the value looks like; `weak` ones (`token`, which is also a word of a language model) only when it looks
 * like a secret; `faint` ones (`dedupe_key`) only when it is long as well.
 */
export type Secrecy = 'strong' | 'weak' | 'faint'

/** Characters that a value under a faint name has at least. */
export const FAINT_LENGTH = 16

/** Lower case, hyphens. */
const HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'x-amz-security-token',
  'x-auth-token',
  'private-token',
])

const ALONE = new Set(['secret', 'secrets', 'passwort', 'contrasena', 'passcode', 'mnemonic'])
/** Words that end so: `pgpassword`, `clientsecret`. */
const ENDINGS =
  /(?:passw(?:or)?d|passphrase|sshpass|apikey|(?:access|private|secret|account|auth|encryption|signing|master)key|(?:auth|access|refresh|bearer|session|id)token|[a-z]{3}secret)$/
/** `credentials: 'include'` is how a browser is asked, `credentials: 'file.json'` how a library is. */
const ALONE_WEAK = new Set(['credential', 'credentials'])
/** Followed by `key`. Bare `key` is the commonest word there is. */
const BEFORE_KEY = new Set([
  'api',
  'access',
  'private',
  'secret',
  'signing',
  'encryption',
  'auth',
  'account',
  'master',
  'license',
  'shared',
  'subscription',
  'functions',
])
/** Followed by `key`, and no secret: keys of maps and tables, of keyboards, and those that are published. */
const PUBLIC_KEYS = new Set(
  (
    'public publishable primary foreign unique composite candidate cache partition sort shard index idempotency group row column object map dict hash ' +
    'set list item node tree entry field property attribute param parameter query search filter lookup storage state react route config setting ' +
    'option translation i18n message locale label event press arrow hot short any enter escape tab shift ctrl control alt meta modifier ' +
    'turn site host gpg pgp ssh registry routing object current next last first new old by for to of the a is has get no with same this'
  ).split(' '),
)
/** Followed by `token`. */
const BEFORE_TOKEN = new Set(
  'access refresh auth id bearer session security api bot oauth csrf github gitlab slack npm private personal deploy service registry webhook'.split(
    ' ',
  ),
)
/** A name that ends so is about a secret, and not one. */
const ABOUT = new Set(
  (
    'id ids name names type types url uri path file files dir length len size count counts limit ttl expiry expires expiration ' +
    'expired budget usage used max min endpoint header headers field fields regex pattern format prefix suffix policy rotation ' +
    'manager store version status error errors label hint prompt placeholder required enabled valid reset strength rule rules ' +
    'input output env var variable ref arn title description schema index position offset scope scopes source provider method stdin ' +
    'handler encoding encryption algorithm callback validator class kind mode text message fn func function page form dialog screen'
  ).split(' '),
)

/** What a name promises; undefined for nothing. */
export function secrecyOf(name: string): Secrecy | undefined {
  if (name.length < 3 || name.length > 64) return undefined
  const known = CACHE.get(name)
  if (known !== undefined) return known === 'none' ? undefined : known
  const found = judge(name)
  if (CACHE.size >= 2_000) CACHE.clear()
  // A copy: cut out of a text, it would keep all of the text in memory.
  CACHE.set(Buffer.from(name, 'utf16le').toString('utf16le'), found ?? 'none')
  return found
}

const CACHE = new Map<string, Secrecy | 'none'>()

function judge(name: string): Secrecy | undefined {
  // A key that was itself a secret says nothing any more.
  if (name.includes('REDACTED')) return undefined
  if (HEADERS.has(name.toLowerCase().replaceAll('_', '-'))) return 'strong'
  const words = toWords(name)
  const last = words.at(-1)
  if (last === undefined || ABOUT.has(last)) return undefined
  for (const [i, word] of words.entries()) {
    if (ALONE.has(word) || ENDINGS.test(word)) return 'strong'
    if (word === 'key' && BEFORE_KEY.has(words[i - 1] ?? '')) return 'strong'
    if (word === 'token' && BEFORE_TOKEN.has(words[i - 1] ?? '')) return 'strong'
  }
  // A header of its own, such as `X-Auth-Key`.
  if (words[0] === 'x' && words.length > 2 && ['key', 'token', 'auth'].includes(last)) return 'strong'
  if (words.some((word) => ALONE_WEAK.has(word)) || last.endsWith('token') || LAST.has(last)) return 'weak'
  if (last !== 'key') return words.length === 1 && ALONE_LAST.has(last) ? 'weak' : undefined
  return words.length > 1 && !PUBLIC_KEYS.has(words.at(-2) ?? '') ? 'faint' : undefined
}

/** The last word of a name that may be about a secret. */
const LAST = new Set(['pwd', 'pass', 'pw', 'pat', 'creds', 'salt', 'jwt', 'auth', 'passkey'])
/** The same, of names of one word. */
const ALONE_LAST = new Set(['sig', 'signature'])

/** What an object of this name holds: nothing but secrets, some among others, variables of which some may be. */
export function holderOf(name: string): 'secrets' | 'credentials' | 'variables' | undefined {
  if (name.length < 3 || name.length > 64 || !isHolder(name)) return undefined
  const words = toWords(name)
  const last = words.at(-1) ?? ''
  if (last === 'credentials') return 'credentials'
  if (['secrets', 'passwords', 'passphrases', 'apikeys', 'cookies'].includes(last)) return 'secrets'
  if (last === 'keys') return BEFORE_KEY.has(words.at(-2) ?? '') ? 'secrets' : undefined
  return 'variables'
}

/** A first look, by the last letter or the first: most names are none of these. */
function isHolder(name: string): boolean {
  const [first, last] = [name.charCodeAt(0) | 32, name.charCodeAt(name.length - 1) | 32]
  if (last !== SMALL_S && first !== SMALL_E) return false
  const lower = name.toLowerCase()
  return HOLDERS.some((word) => lower.endsWith(word)) || VARIABLES.has(lower)
}

const [SMALL_E, SMALL_S] = [0x65, 0x73]
const HOLDERS = ['secrets', 'passwords', 'passphrases', 'keys', 'cookies', 'credentials']
const VARIABLES = new Set(['env', 'environ', 'environment', 'envvar', 'envvars', 'env_var', 'env_vars'])

/** True for a key that is about a secret, or beside one: its name, its kind, whose it is. */
export function isAbout(key: string): boolean {
  const last = toWords(key).at(-1) ?? ''
  return ABOUT.has(last) || BESIDE.has(last)
}

const BESIDE = new Set('user username login email account region host port domain external'.split(' '))

/** What a placeholder says of a secret that only its name gave away: the kind of name, since the name itself may be long or strange. */
export function kindOf(name: string): string {
  const lower = name.toLowerCase()
  const kind = KINDS.find((word) => lower.includes(word))
  return kind ?? (lower.includes('pass') || lower.includes('pwd') ? 'password' : 'secret')
}

const KINDS = ['authorization', 'cookie', 'password', 'passphrase', 'token', 'secret', 'credential', 'key']

/** `aws_secretAccessKey` is aws, secret, access, key; `APIKey` is api, key. */
function toWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '' && !/^\d+$/.test(word))
}
