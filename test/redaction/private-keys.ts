/** Private keys in the ways in which they are kept and shown, made when they are asked for. */
import { scrambled } from '../fake-keys.ts'
import { makeValue, type Value } from './template.ts'

const HEADINGS = [
  'RSA PRIVATE KEY',
  'EC PRIVATE KEY',
  'DSA PRIVATE KEY',
  'OPENSSH PRIVATE KEY',
  'PRIVATE KEY',
  'ENCRYPTED PRIVATE KEY',
]

/** What has no heading. */
const OTHERS = `
age AGE-SECRET-KEY-1[B32:58]
wireguard PrivateKey = «[b64:43]=»
tailscale privkey:«[hex:64]»
ethereum "privateKey": "0x«[hex:64]»"
jwk {"kty":"EC","crv":"P-256","x":"[url:43]","d":"«[url:43]»"}
bip32 xprv9«[an:106]»
minisign untrusted comment: minisign encrypted secret key¶RWRTY0Iy«[b64:200]»
cosign -----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----¶«[b64:64]¶[b64:64]»¶-----END ENCRYPTED SIGSTORE PRIVATE KEY-----
`

export function privateKeys(kind: string, seed: number): Value[] {
  const body = Array.from({ length: 12 }, (_, n) => scrambled(64, seed * 1000 + n))
  const value = (carrier: string, before: string, after: string, lines = body, join = '\n'): Value => {
    const secret = lines.join(join)
    const start = before.length
    return {
      kind,
      carrier,
      text: before + secret + after,
      start,
      end: start + secret.length,
      parts: lines,
    }
  }
  const pem = HEADINGS.map((name) =>
    value(
      name.toLowerCase().replaceAll(' ', '-'),
      `-----BEGIN ${name}-----\n`,
      `\n-----END ${name}-----\n`,
      body.slice(HEADINGS.indexOf(name)),
    ),
  )
  const others = OTHERS.trim()
    .split('\n')
    .map((line, i) => {
      const space = line.indexOf(' ')
      return makeValue(kind, line.slice(0, space), line.slice(space + 1), seed * 100_000 + i * 50)
    })
  return [
    ...pem,
    value(
      'pgp',
      '-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 2\n\n',
      '\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----\n',
    ),
    value(
      'ssh2',
      '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: "me"\n',
      '\n---- END SSH2 ENCRYPTED PRIVATE KEY ----\n',
    ),
    value(
      'putty',
      'PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\nPrivate-Lines: 12\n',
      `\nPrivate-MAC: ${scrambled(64, 9, '0123456789abcdef')}\n`,
    ),
    value('cut off', '-----BEGIN RSA PRIVATE KEY-----\n', '', body.slice(0, 5)),
    value(
      'service account',
      '"private_key": "-----BEGIN PRIVATE KEY-----\\n',
      '\\n-----END PRIVATE KEY-----\\n"',
      body,
      '\\n',
    ),
    value('one line', 'KEY="-----BEGIN PRIVATE KEY----- ', ' -----END PRIVATE KEY-----"', body, ' '),
    ...others,
  ]
}
