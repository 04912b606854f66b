/**
 * Keys that say what they are. Each rule is a literal to look for and a pattern that is tried only where it was found, so its
 * cost is bounded by the number of such places. No pattern wants a particular character after the key: a comma, a bracket or
 * the end of the text all do.
 */
export type VendorRule = {
  readonly id: string
  /** Lower case; found in either case, and the pattern decides. */
  readonly literals: readonly string[]
  /** Sticky, tried where the literal begins. Made when the first is: most texts have none of these. */
  readonly pattern: () => RegExp
  /**
   * What may stand before: `none` for prefixes so distinct that it does not matter; `word` (the default) not a letter or digit;
   * `run` not any key character, for patterns that read a run to its end before they can fail.
   */
  readonly edge?: 'none' | 'run'
  /** A last word on what the pattern took. */
  readonly accepts?: (key: string) => boolean
}

const hasDigitAndLetter = (key: string): boolean => /\d/.test(key.slice(3)) && /[a-z]/i.test(key.slice(3))

/**
 * A prefix and a number of characters of one class: the shape of most. It fails within `min` characters or takes the whole run,
 * so it is linear; no key is as long as the upper bound.
 */
function prefixed(
  id: string,
  prefixes: readonly string[],
  min: number,
  characters = 'A-Za-z0-9_-',
): VendorRule {
  const either = (): string => prefixes.map((prefix) => prefix.replace(/[.\\]/g, '\\$&')).join('|')
  return {
    id,
    literals: prefixes.map((prefix) => prefix.toLowerCase()),
    pattern: once(() => new RegExp(`(?:${either()})[${characters}]{${min},8192}`, 'y')),
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

export const VENDOR_RULES: readonly VendorRule[] = [
  { ...prefixed('anthropic-api-key', ['sk-ant-api'], 16), edge: 'none' },
  { ...prefixed('anthropic-oauth-token', ['sk-ant-oat'], 16), edge: 'none' },
  { ...prefixed('anthropic-refresh-token', ['sk-ant-ort'], 16), edge: 'none' },
  { ...prefixed('anthropic-session-key', ['sk-ant-sid'], 16), edge: 'none' },
  { ...prefixed('anthropic-admin-key', ['sk-ant-admin'], 16), edge: 'none' },
  { ...prefixed('anthropic-key', ['sk-ant-'], 20), edge: 'none' },
  {
    ...prefixed('openai-key', ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-service-', 'sk-None-'], 20),
    edge: 'none',
  },
  { ...prefixed('openrouter-key', ['sk-or-v1-'], 32), edge: 'none' },
  prefixed('langfuse-key', ['sk-lf-'], 30),
  { ...prefixed('openai-key', ['sk-'], 24, 'A-Za-z0-9'), accepts: hasDigitAndLetter },
  prefixed('google-api-key', ['AIza'], 35),
  prefixed('google-oauth-token', ['ya29.'], 20, 'A-Za-z0-9_.-'),
  prefixed('google-refresh-token', ['1//0'], 30),
  prefixed('google-client-secret', ['GOCSPX-'], 20),
  { ...prefixed('github-token', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 30, 'A-Za-z0-9_'), edge: 'none' },
  { ...prefixed('github-pat', ['github_pat_'], 22, 'A-Za-z0-9_'), edge: 'none' },
  {
    ...prefixed('gitlab-token', ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-'], 20),
    edge: 'none',
  },
  {
    ...prefixed(
      'slack-token',
      ['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'],
      10,
      'A-Za-z0-9-',
    ),
    edge: 'none',
  },
  prefixed(
    'slack-webhook',
    ['hooks.slack.com/services/', 'hooks.slack.com/workflows/', 'hooks.slack.com/triggers/'],
    20,
    'A-Za-z0-9/_+-',
  ),
  prefixed(
    'discord-webhook',
    ['discord.com/api/webhooks/', 'discordapp.com/api/webhooks/'],
    40,
    'A-Za-z0-9/_-',
  ),
  {
    id: 'aws-access-key',
    literals: ['akia', 'asia', 'abia', 'acca'],
    pattern: once(() => /A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16,128}/y),
  },
  prefixed('aws-bedrock-key', ['ABSK'], 80, 'A-Za-z0-9+/='),
  {
    ...prefixed(
      'stripe-key',
      ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'sk_prod_', 'rk_prod_'],
      10,
      'A-Za-z0-9',
    ),
    edge: 'none',
  },
  prefixed('stripe-webhook-secret', ['whsec_'], 24, 'A-Za-z0-9+/='),
  {
    id: 'sendgrid-key',
    literals: ['sg.'],
    pattern: once(() => /SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}/y),
  },
  {
    id: 'twilio-key',
    literals: Array.from('0123456789abcdef', (digit) => `sk${digit}`),
    pattern: once(() => /SK[0-9a-f]{32,128}/y),
  },
  prefixed('npm-token', ['npm_'], 30, 'A-Za-z0-9'),
  prefixed('pypi-token', ['pypi-'], 50),
  prefixed('huggingface-token', ['hf_', 'api_org_'], 30, 'A-Za-z0-9'),
  prefixed('digitalocean-token', ['dop_v1_', 'doo_v1_', 'dor_v1_'], 40, 'a-f0-9'),
  prefixed('shopify-token', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], 32, 'A-Fa-f0-9'),
  prefixed('groq-key', ['gsk_'], 30, 'A-Za-z0-9'),
  prefixed('xai-key', ['xai-'], 40, 'A-Za-z0-9'),
  prefixed('replicate-token', ['r8_'], 30, 'A-Za-z0-9'),
  prefixed('perplexity-key', ['pplx-'], 30, 'A-Za-z0-9'),
  { ...prefixed('fireworks-key', ['fw_'], 20, 'A-Za-z0-9'), accepts: hasDigitAndLetter },
  { ...prefixed('elevenlabs-key', ['sk_'], 40, 'a-f0-9'), accepts: hasDigitAndLetter },
  prefixed('cerebras-key', ['csk-'], 30, 'a-z0-9'),
  prefixed('tavily-key', ['tvly-'], 20),
  prefixed('langsmith-key', ['lsv2_pt_', 'lsv2_sk_'], 30, 'A-Za-z0-9_'),
  prefixed('pinecone-key', ['pcsk_'], 30, 'A-Za-z0-9_'),
  prefixed('docker-token', ['dckr_pat_', 'dckr_oat_'], 20),
  prefixed('databricks-token', ['dapi'], 32, 'a-f0-9-'),
  prefixed('vault-token', ['hvs.', 'hvb.'], 24),
  prefixed('linear-key', ['lin_api_', 'lin_oauth_'], 30, 'A-Za-z0-9'),
  prefixed('notion-token', ['ntn_'], 40, 'A-Za-z0-9'),
  prefixed('figma-token', ['figd_'], 30),
  prefixed('postman-key', ['PMAK-'], 40, 'A-Za-z0-9-'),
  prefixed('newrelic-key', ['NRAK-'], 27, 'A-Z0-9'),
  prefixed('doppler-token', ['dp.pt.', 'dp.st.', 'dp.sa.'], 40, 'A-Za-z0-9._-'),
  prefixed('grafana-token', ['glsa_', 'glc_'], 32, 'A-Za-z0-9_+/='),
  prefixed('planetscale-token', ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_'], 32, 'A-Za-z0-9_.-'),
  prefixed('supabase-key', ['sbp_', 'sb_secret_'], 30),
  prefixed('netlify-token', ['nfp_'], 36, 'A-Za-z0-9'),
  prefixed('sentry-token', ['sntrys_', 'sntryu_'], 40, 'A-Za-z0-9_+/='),
  prefixed('atlassian-token', ['ATATT3', 'ATCTT3'], 60, 'A-Za-z0-9_=-'),
  prefixed('age-secret-key', ['AGE-SECRET-KEY-1'], 50, 'A-Z0-9'),
  {
    id: 'azure-key',
    literals: ['accountkey=', 'sharedaccesskey='],
    pattern: once(() => /(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,200}={0,2}/iy),
  },
  {
    id: 'jwt',
    literals: ['eyj'],
    edge: 'run',
    pattern: once(() => /eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}(?:\.[A-Za-z0-9_-]{0,8192}){1,3}/y),
  },
]
