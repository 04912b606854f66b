/** Secrets in addresses, connection strings and cookies: passwords before the host, keys in the query, lines of `.pgpass`. */
import { findGroup, type Find, type Rule } from './rule.ts'
import { isStandIn, looksSecret } from './values.ts'

const isPassword = (value: string): boolean => !isStandIn(value)

const USERINFO = /:\/\/([^\s/@:?#"'`<>\\]{0,128})(?::([^\s/@"'`<>\\]{1,256}))?@/y
/** The same of databases and queues: their passwords are written as they are, with slashes, up to the last `@`. */
const RAW_USERINFO =
  /:\/\/([^\s/:?#"'`<>\\]{0,128}):((?!\d{1,5}\/)(?:(?!:\/\/)[^\s"'`<>\\,]){1,256})@(?=[\w[])/y
const WEB = /(?:https?|wss?|file|git|blob)$/i
const WORDS = /^(?:passw(?:or)?d|pass|pwd|pw|secret|user(?:name)?|git|\[[^\]]*\])$/i

/** The password of `scheme://user:password@host`, or a token that stands alone there. */
const findUserinfo: Find = (text, at) => {
  const isWeb = WEB.test(text.slice(Math.max(0, at - 5), at))
  RAW_USERINFO.lastIndex = at
  USERINFO.lastIndex = at
  const match = (isWeb ? null : RAW_USERINFO.exec(text)) ?? USERINFO.exec(text)
  if (match === null || match[0].includes('[REDACTED:')) return undefined
  const [, user = '', password] = match
  const end = at + match[0].length - 1
  if (password !== undefined) {
    if (isStandIn(password) || WORDS.test(password)) return undefined
    return { start: end - password.length, end, rule: 'url-password' }
  }
  if (!looksSecret(user, { quoted: false, trust: 'strong' }) || user.length < 20) return undefined
  return { start: end - user.length, end, rule: 'url-password' }
}

/** `root:…@10.0.0.5` without a scheme. */
const HOST = /(?:root|admin):([^\s:@/"'`\\]{6,64})@(?=[\w-])/iy
/** `jdbc:oracle:thin:user/password@host`. */
const ORACLE = /(?:thin:|sqlplus[ \t]{1,4}(?:-\w[ \t]{1,4})?)[\w$#]{1,64}\/([^\s@"'`/]{3,128})@/iy
/** `host:5432:database:user:password`. */
const PGPASS = /:(?:\d{4,5}|\*):[\w.*-]{1,64}:[\w.*-]{1,64}:([^\s:"'`\\]{4,128})(?=\s|\\|["']|$)/y

/** Query parameters, each with what must come before it. */
const PARAMETER = /(?:key|sig|signature|appid)=([^\s&#"'`<>\\,;)[\]}]{16,2048})/iy
/** The rest of a parameter's name before the literal: `X-Amz-`, `api_`. */
const BEFORE_PARAMETER =
  /(?:[?&;]|&amp;|\\u0026|%26)(?:x-amz-|x-goog-|x-ms-|api[_-]?|access[_-]?|auth[_-]?|subscription-?)?$/i

const findParameter: Find = (text, at) => {
  PARAMETER.lastIndex = at
  const secret = PARAMETER.exec(text)?.[1]
  if (secret === undefined || !BEFORE_PARAMETER.test(text.slice(Math.max(0, at - 20), at))) return undefined
  if (!looksSecret(secret, { quoted: true, trust: 'strong' })) return undefined
  return { start: PARAMETER.lastIndex - secret.length, end: PARAMETER.lastIndex, rule: 'url-key' }
}

/** Digests that sign a request, among the parameters of a header. */
const SIGNATURE = /(?:signature=|response=\\{0,7}")([0-9a-f]{32,128})/iy

/** Cookies that are known by their names, wherever they stand. */
const SESSIONS =
  'phpsessid|jsessionid|connect.sid|_gitlab_session|laravel_session|asp.net_sessionid|_session_id|__secure-|__host-|.aspnetcore.'
const SESSION = new RegExp(
  String.raw`(?:${SESSIONS.replaceAll('.', String.raw`\.`)})[\w.-]{0,64}=([^\s;"'&,<>\\]{16,4096})`,
  'iy',
)

export const URL_RULES: readonly Rule[] = [
  { literals: ['://'], find: findUserinfo },
  { literals: ['root:', 'admin:'], find: findGroup(HOST, 'url-password', isPassword) },
  { literals: ['thin:', 'sqlplus '], find: findGroup(ORACLE, 'url-password', isPassword) },
  { literals: [':5432:', ':*:*:'], find: findGroup(PGPASS, 'password', isPassword) },
  { literals: ['signature=', 'response='], find: findGroup(SIGNATURE, 'signature') },
  { literals: ['key=', 'sig=', 'signature=', 'x-goog-credential=', 'appid='], find: findParameter },
  { literals: SESSIONS.split('|'), find: findGroup(SESSION, 'cookie', isPassword) },
]
