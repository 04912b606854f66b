/**
 * Names that say that a secret follows: of headers, JSON keys, variables, options and query parameters. `strong` names are
 * believed whatever the value looks like; `likely` ones (`refund_token`) when it could be a secret; `weak` ones (`token`, which is also a word of a language model) only when it looks
 * like a secret; `faint` ones (`dedupe_key`) only when it is long as well.
 */
export type Secrecy = Trust | 'faint'

import type { Trust } from './values.ts'

/** Characters that a value under a faint name has at least. */
export const FAINT_LENGTH = 16

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '))

/** Every name that is believed holds one of these. At least three characters: a scanner looks for them. */
export const NAME_LITERALS = [
  'pass',
  'pwd',
  'secret',
  'token',
  'cred',
  'cookie',
  'key',
  'auth',
  '_pat',
  '_pw',
  'salt',
  'jwt',
  'psk',
  'x-honeycomb-team',
]

/** Lower case, hyphens. */
const HEADERS = words(
  'authorization proxy-authorization cookie set-cookie x-api-key api-key x-goog-api-key x-amz-security-token x-auth-token private-token ' +
    'ocp-apim-subscription-key x-functions-key x-honeycomb-team x-mbx-apikey accesskey',
)

/** Strong wherever they stand in a name. */
const ALONE = words(
  'secret secrets passwort kennwort contrasena passcode mnemonic psk requirepass masterauth',
)
/** Words that end so: `pgpassword`, `clientsecret`. */
const ENDINGS =
  /(?:passw(?:or)?d|passphrase|sshpass|apikey|(?:access|private|secret|account|auth|encryption|signing|master|shared|hmac)key|privkey|(?:auth|access|refresh|bearer|session|id)token|[a-z]{3}secret|storepass|keypass)$/
/** `credentials: 'include'` is how a browser is asked, `credentials: 'file.json'` how a library is. */
const ALONE_WEAK = words('credential credentials')
/** Followed by `key`. Bare `key` is the commonest word there is. */
const BEFORE_KEY = words(
  'api access private secret signing encryption auth account master license shared subscription functions admin application app deploy ' +
    'ingestion consumer hmac webhook service server crypt cipher aes fernet jwt wallet seed vault unseal',
)
/** Followed by `key`, and no secret: keys of maps and tables, of keyboards, and those that are published. */
const PUBLIC_KEYS = words(
  'public publishable primary foreign unique composite candidate cache partition sort shard index idempotency group row column object map dict hash ' +
    'set list item node tree entry field property attribute param parameter query search filter lookup storage state react route config setting ' +
    'option translation i18n message locale label event press arrow hot short any enter escape tab shift ctrl control alt meta modifier ' +
    'turn site host gpg pgp ssh registry routing object current next last first new old by for to of the a is has get no with same this ' +
    'socket surrogate',
)
/** The same, but for variables: what things are called by. */
const IDENTITY_KEYS = words(
  'session file figma thread chat conversation run agent user job task message doc document page resource bucket image asset layer component style fragment',
)
/** Followed by `token`. */
const BEFORE_TOKEN = words(
  'access refresh auth id bearer session security api bot oauth csrf github gitlab slack npm private personal deploy service registry webhook',
)
/** Followed by `token`, and no secret: words of language models, of parsers, and of lists that are read in parts. */
const OTHER_TOKENS = words(
  'next page pagination continuation sync cursor resume start end first last prev previous current new peek stop bos eos pad unk mask sep cls special ' +
    'bad image audio video input output prompt completion max min total cached reasoning operator keyword lexer parser punctuation string identifier ' +
    'comment stream cancellation cancel idempotency marker change a the of by to for no is per each any some this one same syntax',
)
/** A name that ends so is about a secret, and not one. */
const ABOUT = words(
  'id ids name names type types url uri path file files dir length len size count counts limit ttl expiry expires expiration ' +
    'expired budget usage used max min endpoint header headers field fields regex pattern format prefix suffix policy rotation ' +
    'manager store version status error errors label hint prompt placeholder required enabled valid reset strength rule rules ' +
    'input output env var variable ref arn title description schema index position offset scope scopes source provider method stdin ' +
    'handler encoding encryption algorithm callback validator class kind mode text message fn func function page form dialog screen',
)

/** Words for a password in other languages. */
export const FOREIGN_NAMES = (
  'contraseña|contrasenya|mot de passe|motdepasse|mdp|senha|palavra-passe|clave|kennwort|wachtwoord|lösenord|adgangskode|salasana|hasło|heslo|jelszó|parola|' +
  'parolă|şifre|пароль|пароля|паролем|κωδικός|パスワード|비밀번호|รหัสผ่าน|mật khẩu|kata sandi|סיסמה|كلمة المرور|密码|密碼|口令|密钥|密鑰|令牌|암호'
).split('|')

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
  const lower = name.toLowerCase()
  if (HEADERS.has(lower.replaceAll('_', '-'))) return 'strong'
  const parts = toWords(name)
  const last = parts.at(-1)
  if (last === undefined || ABOUT.has(last)) return undefined
  const before = parts.at(-2)
  for (const [i, word] of parts.entries()) {
    if (ALONE.has(word) || ENDINGS.test(word)) return 'strong'
    if (word === 'key' && BEFORE_KEY.has(parts[i - 1] ?? '')) return 'strong'
    if (word === 'phrase' && ['seed', 'recovery'].includes(parts[i - 1] ?? '')) return 'strong'
  }
  // `client-key-data` of Kubernetes.
  if (last === 'data') return before === 'key' ? 'strong' : undefined
  if (before !== undefined) {
    if (last === 'token' && BEFORE_TOKEN.has(before)) return 'strong'
    if (last === 'token') return OTHER_TOKENS.has(before) ? undefined : 'likely'
    if (SHORT_PASSWORDS.has(last)) return 'likely'
    // A header of its own, such as `X-Auth-Key` and `Fastly-Key`.
    const isHeader =
      parts[0] === 'x' ? parts.length > 2 : /^[A-Z][A-Za-z0-9]*(?:-[A-Z][A-Za-z0-9]*)+$/.test(name)
    if (isHeader && ['key', 'token', 'auth'].includes(last) && !PUBLIC_KEYS.has(before)) return 'likely'
  }
  if (last === 'pwd' || last === 'salt' || last === 'pass') return 'likely'
  if (parts.some((word) => ALONE_WEAK.has(word)) || last.endsWith('token') || LAST.has(last)) return 'weak'
  if (last !== 'key') return parts.length === 1 && ALONE_LAST.has(last) ? 'weak' : undefined
  if (before === undefined || PUBLIC_KEYS.has(before)) return undefined
  return IDENTITY_KEYS.has(before) && name !== name.toUpperCase() ? undefined : 'faint'
}

/** Behind another word, which says whose it is. */
const SHORT_PASSWORDS = words('pwd pw pass passwd')
/** The last word of a name that may be about a secret. */
const LAST = words('pw pat creds jwt auth passkey')
/** The same, of names of one word. */
const ALONE_LAST = words('sig signature')

/** What an object of this name holds: nothing but secrets, some among others, variables of which some may be. */
export function holderOf(name: string): 'secrets' | 'credentials' | 'variables' | undefined {
  if (name.length < 3 || name.length > 64 || !isHolder(name)) return undefined
  const parts = toWords(name)
  const last = parts.at(-1) ?? ''
  if (last === 'credentials') return 'credentials'
  if (['secrets', 'passwords', 'passphrases', 'apikeys', 'cookies'].includes(last)) return 'secrets'
  if (last === 'keys') return BEFORE_KEY.has(parts.at(-2) ?? '') ? 'secrets' : undefined
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
const VARIABLES = words('env environ environment envvar envvars env_var env_vars')
/** True for a key that is about a secret, or beside one: its name, its kind, whose it is. */
export function isAbout(key: string): boolean {
  const last = toWords(key).at(-1) ?? ''
  return ABOUT.has(last) || BESIDE.has(last)
}

const BESIDE = words('user username login email account region host port domain external')

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
