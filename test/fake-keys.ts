/** Keys that look real and open nothing, put together at run time so that no scanner of repositories finds one here. For tests. */

/** Letters and digits in an order that repeats after a long time; the same for the same seed. */
export function scrambled(length: number, seed: number, alphabet = ALPHANUMERIC): string {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += alphabet[(state >>> 16) % alphabet.length]
  }
  return text
}

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
export const HEX = '0123456789abcdef'
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Halves that are harmless apart. */
function join(...parts: readonly string[]): string {
  return parts.join('')
}

export function githubToken(seed: number): string {
  return join('gh', `p_${scrambled(36, seed)}`)
}

/** One key of each kind, and the rule that should take it. */
export function fakeKeys(seed = 1): readonly (readonly [rule: string, key: string])[] {
  const any = (length: number): string => scrambled(length, seed)
  const hex = (length: number): string => scrambled(length, seed, HEX)
  return [
    ['anthropic-api-key', join('sk', `-ant-api03-${any(93)}AA`)],
    ['anthropic-oauth-token', join('sk', `-ant-oat01-${any(86)}`)],
    ['anthropic-refresh-token', join('sk', `-ant-ort01-${any(86)}`)],
    ['anthropic-session-key', join('sk', `-ant-sid01-${any(86)}`)],
    ['anthropic-admin-key', join('sk', `-ant-admin01-${any(86)}`)],
    ['openai-key', join('sk', `-1a${any(46)}`)],
    ['openai-key', join('sk', `-proj-${any(120)}`)],
    ['openai-key', join('sk', `-svcacct-${any(120)}`)],
    ['openrouter-key', join('sk', `-or-v1-${hex(64)}`)],
    ['google-api-key', join('AI', `za${any(35)}`)],
    ['google-oauth-token', join('ya', `29.${any(120)}`)],
    ['google-client-secret', join('GOC', `SPX-${any(28)}`)],
    ['github-token', join('gh', `p_${any(36)}`)],
    ['github-token', join('gh', `o_${any(36)}`)],
    ['github-token', join('gh', `u_${any(36)}`)],
    ['github-token', join('gh', `s_${any(36)}`)],
    ['github-token', join('gh', `r_${any(36)}`)],
    ['github-pat', join('github', `_pat_${any(22)}_${any(59)}`)],
    ['gitlab-token', join('gl', `pat-${any(20)}`)],
    ['slack-token', join('xo', `xb-123456789012-${any(24)}`)],
    ['slack-token', join('xa', `pp-1-A123-456-${hex(64)}`)],
    ['slack-webhook', join('hooks.slack', `.com/services/T${any(8)}/B${any(8)}/${any(24)}`)],
    ['discord-webhook', join('discord', `.com/api/webhooks/123456789012345678/${any(68)}`)],
    ['aws-access-key', join('AK', `IA${scrambled(16, seed, UPPER)}`)],
    ['aws-access-key', join('AS', `IA${scrambled(16, seed, UPPER)}`)],
    ['stripe-key', join('sk', `_live_${any(24)}`)],
    ['stripe-key', join('rk', `_live_${any(24)}`)],
    ['stripe-webhook-secret', join('wh', `sec_${any(32)}`)],
    ['sendgrid-key', join('S', `G.${any(22)}.${any(43)}`)],
    ['twilio-key', join('S', `K${hex(32)}`)],
    ['npm-token', join('np', `m_${any(36)}`)],
    ['pypi-token', join('py', `pi-AgEIcHlwaS5vcmc${any(90)}`)],
    ['huggingface-token', join('h', `f_${any(34)}`)],
    ['digitalocean-token', join('do', `p_v1_${hex(64)}`)],
    ['shopify-token', join('shp', `at_${hex(32)}`)],
    ['groq-key', join('gs', `k_${any(52)}`)],
    ['xai-key', join('xa', `i-${any(80)}`)],
    ['replicate-token', join('r', `8_${any(37)}`)],
    ['perplexity-key', join('pp', `lx-${any(48)}`)],
    ['fireworks-key', join('f', `w_3Z${any(22)}`)],
    ['telegram-token', join('123456789:', `AA${any(33)}`)],
    ['age-secret-key', join('AGE-SECRET', `-KEY-1${scrambled(58, seed, UPPER)}`)],
    ['jwt', join('ey', `J${any(33)}.eyJ${any(60)}.${any(43)}`)],
    [
      'private-key',
      join('-----BEGIN RSA PRIV', `ATE KEY-----\n${any(64)}\n${any(64)}==\n-----END RSA PRIVATE KEY-----`),
    ],
  ]
}
