/** Secrets on command lines and in calls: flags of programs that take a password, what is echoed to those that read one, `.netrc`. */
import { isEdge, isKeyCharacter } from './edges.ts'
import { findGroup, type Find, type Rule } from './rule.ts'
import { isStandIn, looksRandom, looksSecret } from './values.ts'

const OPEN = String.raw`\\{0,7}["']`
/** A value, in quotes or bare. */
const VALUE = String.raw`(?:${OPEN}([^"'\n\\]{3,128})${OPEN}|([^\s"'|;&<>()\\]{3,128}))`
/** A user before a password. */
const USER = String.raw`(?:${OPEN})?[^\s:"'\\]{0,64}:`
/** Between a flag and its value. */
const TO = String.raw`(?:=|[ \t]{1,4})`
/** The same where a flag and its value may be one word. */
const OR = String.raw`[ \t]{0,2}`
const ARGUMENT = String.raw`[ \t]\S{1,80}`

/** Programs, and what follows them up to the secret. */
const COMMANDS: readonly (readonly [programs: string, before: string])[] = [
  ['mysql|mysqldump|mysqladmin|mysqlimport|mysqlsh|mariadb|mariadb-dump', String.raw`[ \t]-p`],
  ['curl ', String.raw`[ \t](?:-u|--user|-U|--proxy-user)(?:${TO})?(?:${USER})`],
  ['curl ', String.raw`[ \t](?:-b|--cookie)${TO}(?:${OPEN})?[\w.-]{1,40}=`],
  ['http |https |xh ', String.raw`[ \t](?:-a|--auth)${TO}(?:${USER})`],
  ['sshpass', String.raw`[ \t]-p${OR}`],
  ['docker login|podman login|nerdctl login|buildah login|skopeo login', String.raw`[ \t]-p${TO}`],
  ['oras login|registry login|az login|useradd|usermod', String.raw`[ \t]-p${TO}`],
  ['mongo|mongosh|mongodump|mongorestore|mongoexport|mongoimport|cqlsh', String.raw`[ \t]-p${TO}`],
  ['redis-cli|valkey-cli', String.raw`[ \t](?:-a|--pass)${TO}`],
  ['acl setuser|user default', String.raw`[ \t]>`],
  ['sqlcmd|bcp |isql|mosquitto_pub|mosquitto_sub|ipmitool|zip |unzip ', String.raw`[ \t]-P${OR}`],
  ['7z |7za |rar |unrar ', String.raw`[ \t]-h?p`],
  ['ldapsearch|ldapmodify|ldapadd|ldapdelete|ldappasswd|ldapwhoami', String.raw`[ \t]-[ws]${OR}`],
  ['smbclient|rpcclient|smbmap', String.raw`[ \t](?:-U|--user)${TO}(?:${OPEN})?[^\s%"']{1,64}%`],
  ['htpasswd', String.raw`[ \t]-[a-zA-Z]{0,6}b[a-zA-Z]{0,6}(?:${ARGUMENT}){1,3}[ \t]`],
  ['openssl|gpg ', String.raw`[ \t](?:-k|-pass|-passin|-passout|--passphrase)${TO}(?:pass:)?`],
  ['keytool|jarsigner', String.raw`[ \t]-(?:src|dest)?(?:storepass|keypass)${TO}`],
  ['ssh-keygen', String.raw`[ \t]-[NP]${OR}`],
  ['vault login|cargo login|wandb login|wrangler login', String.raw`[ \t](?:token=)?`],
  ['nuget push', String.raw`[ \t](?:-k|--api-key|-ApiKey)${TO}`],
  ['secret set', String.raw`[ \t](?:-b|--body)${TO}`],
  ['http-basic.', String.raw`^http-basic\.\S{1,80}${ARGUMENT}[ \t]`],
  ['wpa_passphrase', String.raw`^wpa_passphrase${ARGUMENT}[ \t]`],
  ['lftp|ncftp', String.raw`[ \t]-u[ \t]\S{1,64}?,`],
  ['su -|sudo -s', String.raw`<<<${OR}`],
  ['net user|rabbitmqctl add_user|rabbitmqctl change_password', String.raw`[ \t][\w.]{1,40}[ \t]`],
  ['snmpwalk|snmpget', String.raw`[ \t]-[AX][ \t]`],
  ['identified by', String.raw`[ \t](?:password[ \t])?(?=\\{0,7}'|\\{1,7}")`],
]
const AFTER_DRIVE = String.raw`[ \t]${VALUE}[ \t]{1,4}/user`
/** Calls that take a name and a password in their places; others that may. */
const CALLS = 'auth=(|auth = (|basicauth(|basic_auth(|getconnection(|mysqli_connect(|mysqli(|pdo('
const OTHER_CALLS = '.login(|.connect(|credential(|credentials('
const PASSED = String.raw`(?<=["'][ \t]{0,2}),[ \t]{0,2}${VALUE}(?=[ \t]{0,2}[,)])`

const isPassword = (value: string): boolean =>
  looksSecret(value, { quoted: true, trust: 'strong' }) && !isStandIn(value)

/** Of a command, with the lines that it goes on with. */
const WIDEST = 400

/** Finds the first value in a command that is a secret. */
function findIn(source: string, accepts = isPassword): Find {
  let made: RegExp | undefined
  return (text, at) => {
    const pattern = (made ??= new RegExp(source, 'dg'))
    for (const { indices } of commandAt(text, at).matchAll(pattern)) {
      const [start, end] = indices?.[1] ?? indices?.[2] ?? [0, 0]
      if (accepts(text.slice(at + start, at + end)))
        return { start: at + start, end: at + end, rule: 'password' }
    }
    return undefined
  }
}

/** Up to the end of its line, but for lines that go on. */
function commandAt(text: string, at: number): string {
  const wide = text.slice(at, at + WIDEST)
  const end = /(?<!\\)\n/.exec(wide)?.index
  return end === undefined ? wide : wide.slice(0, end)
}

/** A program is a word of its own. */
function atWord(find: Find): Find {
  return (text, at, isStart) =>
    isEdge(text, at, isKeyCharacter) && text[at - 1] !== '.' ? find(text, at, isStart) : undefined
}

/** Programs that read a secret, which somebody echoes to them. */
const READERS = ['--password-stdin', '--with-token', 'chpasswd', 'sudo -s', 'passwd --stdin']
const ECHOED = new RegExp(
  String.raw`(?:echo|printf)[ \t](?:-\w{1,3}[ \t]|["']?%s["']?[ \t])?(?:${OPEN})?(?:[\w.-]{1,40}:)?([^\s"'|\\]{3,128})(?:${OPEN})?[ \t]{0,4}\|[^|\n]{0,80}$`,
)

/** What is piped into the program at `at`. */
const findEchoed: Find = (text, at) => {
  const wide = Math.max(0, at - WIDEST)
  const from = wide + text.slice(wide, at).lastIndexOf('\n') + 1
  const match = ECHOED.exec(text.slice(from, at))
  const secret = match?.[1]
  if (match === null || secret === undefined || !isPassword(secret)) return undefined
  const start = from + match.index + match[0].indexOf(secret)
  return { start, end: start + secret.length, rule: 'password' }
}

/** A user before a password, whatever the program. */
const USER_FLAGS = [
  /[ \t](?:-u|--user|--username)(?:=|[ \t]{1,4})\S{1,80}[ \t]{1,4}(?:-\S{1,24}[ \t]{1,4}){0,2}-p(?:=|[ \t]{1,4})$/,
  /[ \t]\/u:\S{1,80}[ \t]{1,4}\/p:$/i,
]
const FLAGS = ['-p ', '-p=', '/p:']
const FLAG_VALUE = new RegExp(VALUE, 'dy')

const findFlag: Find = (text, at) => {
  const from = at + 3
  if (!USER_FLAGS.some((pattern) => pattern.test(text.slice(Math.max(0, at - 120), from)))) return undefined
  FLAG_VALUE.lastIndex = from
  const { indices } = FLAG_VALUE.exec(text) ?? {}
  const [start, end] = indices?.[1] ?? indices?.[2] ?? [0, 0]
  return looksRandom(text.slice(start, end)) ? { start, end, rule: 'password' } : undefined
}

/** `machine api.acme.test login me password …`. */
const NETRC =
  /(?:machine[ \t]{1,4}\S{1,128}|default(?=\s{1,8}login))\s{1,8}(?:login\s{1,4}\S{1,128}\s{1,8})?(?:account\s{1,4}\S{1,128}\s{1,8})?password\s{1,4}(\S{3,256})/iy
const isKept = (value: string): boolean =>
  !isStandIn(value) && !/^(?:[A-Z]+$|pass|secret|\{|\[|")/.test(value)

export const COMMAND_RULES: readonly Rule[] = [
  ...COMMANDS.map(([programs, before]) => ({
    literals: programs.split('|'),
    find: atWord(findIn(before + VALUE)),
  })),
  { literals: ['net use'], find: atWord(findIn(AFTER_DRIVE)) },
  { literals: CALLS.split('|'), find: findIn(PASSED) },
  { literals: OTHER_CALLS.split('|'), find: findIn(PASSED, looksRandom) },
  { literals: READERS, find: findEchoed },
  { literals: FLAGS, find: findFlag },
  { literals: ['machine ', 'default '], find: findGroup(NETRC, 'password', isKept) },
]
