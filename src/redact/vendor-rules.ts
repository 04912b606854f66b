/**
 * Shapes of vendors' keys, in the order of the vendors' names. Each rule is a literal to look for and a pattern that is tried only where it
 * was found, so its cost is bounded by the number of such places. No pattern wants a particular character after the key: a comma, a bracket or
 * the end of the text all do. Lengths are a little below the real ones, so that a key that lost some characters is found too.
 */
import { looksRandom } from './values.ts'

export type VendorRule = {
  readonly id: string
  /** Lower case; found in either case, and the pattern decides. */
  readonly literals: readonly string[]
  /** Sticky, tried where the key begins. Made when the first literal is found: most texts have none of these. */
  readonly pattern: () => RegExp
  /**
   * What may stand before: `none` for prefixes so distinct that it does not matter; `word` (the default) not a letter or digit;
   * `run` not any key character, for patterns that read a run to its end before they can fail; `blob` nor one of base64.
   */
  readonly edge?: 'none' | 'run' | 'blob'
  /** For keys that have their literal inside: what comes before it. */
  readonly lead?: { readonly characters: RegExp; readonly least: number; readonly most: number }
  /** A last word on what the pattern took. */
  readonly accepts?: (key: string) => boolean
}

type Options = Pick<VendorRule, 'edge' | 'lead' | 'accepts'>

const WORD = '-A-Za-z0-9_'
const ALNUM = 'A-Za-z0-9'
const LOWER = 'a-z0-9'
const UPPER = 'A-Z0-9'
const HEX = 'A-Fa-f0-9'
const DOTTED = '-A-Za-z0-9_.'
const BASE64 = '-A-Za-z0-9+/=_'
const UUID = `[${HEX}]{8}-(?:[${HEX}]{4}-){3}[${HEX}]{12}`

/**
 * Prefixes and a number of characters of one class: the shape of most. It fails within `least` characters or takes the whole run,
 * so it is linear; no key is as long as the upper bound.
 */
function key(
  id: string,
  prefixes: string,
  least: number,
  characters = WORD,
  options: Options = {},
): VendorRule {
  const list = prefixes.split(' ')
  const either = (): string => list.map((prefix) => prefix.replace(/[.\\$|+*~]/g, '\\$&')).join('|')
  return shape(
    id,
    list.map((prefix) => prefix.toLowerCase()),
    () => `(?:${either()})[${characters}]{${least},8192}`,
    options,
  )
}

function shape(
  id: string,
  literals: readonly string[],
  source: string | (() => string),
  options: Options = {},
): VendorRule {
  let pattern: RegExp | undefined
  return {
    id,
    literals,
    pattern: () => (pattern ??= new RegExp(typeof source === 'string' ? source : source(), 'y')),
    ...options,
  }
}

/** Nothing else begins like this. */
const ANYWHERE: Options = { edge: 'none' }
/** Prefixes that words and base64 begin with too. */
const MIXED: Options = {
  edge: 'blob',
  accepts: (key) => /\d/.test(key.slice(3)) && /[a-z]/i.test(key.slice(3)),
}
const lead = (characters: RegExp, least: number, most = least): Options => ({
  lead: { characters, least, most },
})

const digits = (before: string, after = ''): string[] =>
  Array.from('0123456789', (digit) => before + digit + after)

/** Words in a prefix that say that a key follows. */
const SAYS_SO =
  'live test prod production sandbox sk rk pk pat key token tok secret api apikey oat sat uat'.split(' ')
const SELF_DECLARED: Options = {
  edge: 'blob',
  accepts: (key) => {
    const rest = key.replace(SAID, '')
    const isLong = rest.length >= 32
    const run = isLong ? /[A-Za-z0-9]{9}/ : /[A-Za-z0-9]{16}/
    return run.test(rest) && (isLong ? /\d/ : /\d\D*\d/).test(rest) && looksRandom(rest)
  },
}
const SAID = new RegExp(`^(?:.{0,40}[_-])?(?:${SAYS_SO.join('|')})[_-]`)

export const VENDOR_RULES: readonly VendorRule[] = [
  key('1password-token', 'ops_ey', 60, BASE64, ANYWHERE),
  shape(
    '1password-secret-key',
    ['a3-'],
    `A3-[${UPPER}]{6}-(?:[${UPPER}]{11}|[${UPPER}]{6}-[${UPPER}]{5})(?:-[${UPPER}]{5}){3}`,
  ),
  key('adafruit-key', 'aio_', 24, ALNUM, MIXED),
  key('adobe-secret', 'p8e-', 28, WORD),
  key('age-secret-key', 'AGE-SECRET-KEY-1', 50, UPPER, ANYWHERE),
  key('age-plugin-key', 'AGE-PLUGIN-', 50, 'A-Z0-9-', ANYWHERE),
  shape('airtable-token', ['pat'], `pat[${ALNUM}]{14}\\.[${HEX}]{40,64}`),
  key('aiven-password', 'AVNS_', 16),
  key('aiven-token', 'aivenv1', 100, BASE64, ANYWHERE),
  key('alchemy-key', 'alcht_', 24, ALNUM, ANYWHERE),
  shape(
    'alchemy-url',
    ['.alchemy.com/v2/', '.alchemyapi.io/v2/'],
    `\\.[a-z]{7,10}\\.(?:com|io)/v2/[${WORD}]{24,64}`,
    ANYWHERE,
  ),
  key('alibaba-access-key', 'LTAI', 12, ALNUM, MIXED),
  key('anthropic-api-key', 'sk-ant-api', 16, WORD, ANYWHERE),
  key('anthropic-oauth-token', 'sk-ant-oat', 16, WORD, ANYWHERE),
  key('anthropic-refresh-token', 'sk-ant-ort', 16, WORD, ANYWHERE),
  key('anthropic-session-key', 'sk-ant-sid', 16, WORD, ANYWHERE),
  key('anthropic-admin-key', 'sk-ant-admin', 16, WORD, ANYWHERE),
  key('anthropic-key', 'sk-ant-', 20, WORD, ANYWHERE),
  key('anyscale-key', 'esecret_ aph0_', 20, ALNUM, MIXED),
  key('apify-token', 'apify_api_ apify_proxy_', 24, ALNUM, ANYWHERE),
  key('artifactory-key', 'AKCp', 60, ALNUM),
  key('artifactory-token', 'cmVmdGtu cmVmd', 50, ALNUM),
  key('atlassian-token', 'ATATT3 ATCTT3 ATSTT3', 60, 'A-Za-z0-9_=-', ANYWHERE),
  shape(
    'authress-key',
    ['sc_', 'ext_', 'scauth_', 'authress_'],
    `(?:sc|ext|scauth|authress)_[${LOWER}]{5,30}\\.[${LOWER}]{4,6}\\.acc[_-][a-z0-9-]{10,32}\\.[${BASE64}]{30,120}`,
  ),
  key('aws-access-key', 'AKIA ASIA ABIA ACCA', 16, UPPER),
  shape('aws-access-key', ['a3t'], `A3T[A-Z0-9][${UPPER}]{16}`),
  key('aws-appsync-key', 'da2-', 24, LOWER, MIXED),
  key('aws-bedrock-key', 'ABSK', 80, BASE64),
  key('aws-bedrock-key', 'bedrock-api-key-', 40, BASE64, ANYWHERE),
  shape('aws-mws-token', ['amzn.mws.'], `amzn\\.mws\\.${UUID}`, ANYWHERE),
  key('axiom-token', 'xaat-', 30, WORD, ANYWHERE),
  key('axiom-token', 'xapt-', 30, WORD),
  shape(
    'azure-client-secret',
    digits('', 'q~'),
    `[${ALNUM}_~.]{3}\\dQ~[${ALNUM}_~.-]{30,40}`,
    lead(/[\w~.]/, 3),
  ),
  shape('azure-devops-token', ['azdo'], `[${ALNUM}]{76,80}AZDO[${ALNUM}]{4}`, lead(/[A-Za-z0-9]/, 76, 80)),
  shape(
    'azure-key',
    ['accountkey=', 'sharedaccesskey=', 'accesskey='],
    `(?:[Aa]ccount|[Ss]hared[Aa]ccess|[Aa]ccess)[Kk]ey=[${BASE64}]{40,200}`,
  ),
  shape(
    'azure-key',
    ['jqqj99', 'jqqjj99'],
    `[${ALNUM}]{52}JQQJJ?99[${ALNUM}]{20,40}`,
    lead(/[A-Za-z0-9]/, 52),
  ),
  shape(
    'azure-key',
    ['azfu', 'azse', 'azca', 'aiot', '+ast', '+asb', '+aeh', '+acr', '+aba', 'acdb', 'apim', 'azml'],
    `[${BASE64}]{30,80}(?:AzFu|AzSe|AzCa|AIoT|AzML|APIM|ACDb|\\+A(?:St|Sb|Eh|CR|Ba))[${BASE64}]{5,9}={0,2}(?![${BASE64}])`,
    { ...lead(/[\w+/-]/, 30, 80), edge: 'run', accepts: looksRandom },
  ),
  key('bitbucket-app-password', 'ATBB', 24, BASE64),
  shape(
    'braintree-token',
    ['access_token$'],
    `access_token\\$(?:production|sandbox)\\$[${LOWER}]{8,24}\\$[${HEX}]{24,64}`,
  ),
  key('brevo-key', 'xkeysib- xsmtpsib-', 40, WORD, ANYWHERE),
  key('browserbase-key', 'bb_live_ bb_test_', 20),
  key('buildkite-token', 'bkua_ bkct_ bkat_ bkpt_ bkaj_ bkpat_ bkrt_ bkagent_', 32, ALNUM, ANYWHERE),
  key('canva-secret', 'cnvca', 32, WORD),
  key('cerebras-key', 'csk-', 30, LOWER),
  key('circleci-token', 'CCIPAT_ CCIPRJ_', 30, 'A-Za-z0-9_', ANYWHERE),
  key('clickhouse-key', '4b1d', 38, ALNUM, MIXED),
  shape('clickup-token', digits('pk_'), `pk_\\d{5,10}_[${UPPER}]{24,40}`),
  key('clojars-token', 'CLOJARS_', 40, HEX, ANYWHERE),
  key('cloudflare-key', 'cfk_ cfut_ cfat_', 36, ALNUM, MIXED),
  shape('cloudflare-origin-key', ['v1.0-'], `v1\\.0-[${HEX}]{24}-[${HEX}]{60,160}`),
  key('composio-key', 'ak_', 20, WORD, MIXED),
  key('confluent-secret', 'cflt', 55, BASE64, MIXED),
  key('contentful-token', 'CFPAT-', 20, WORD, ANYWHERE),
  key('crates-token', 'cio', 32, ALNUM, MIXED),
  key('cursor-key', 'crsr_', 32, ALNUM),
  key('databricks-token', 'dapi dose dkea', 32, 'a-f0-9-'),
  key('datadog-key', 'ddp_ ddapp_ ddapi_', 30, ALNUM, MIXED),
  key('defined-networking-key', 'dnkey-', 40, WORD, ANYWHERE),
  key('deno-token', 'ddo_ ddw_', 30, ALNUM, MIXED),
  key('digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', 40, 'a-f0-9', ANYWHERE),
  key('digitalocean-spaces-key', 'DO00 DO80', 16, UPPER, MIXED),
  key('digitalocean-model-key', 'sk-do-', 30, WORD),
  key('discord-webhook', 'discord.com/api/webhooks/ discordapp.com/api/webhooks/', 40, 'A-Za-z0-9/_-'),
  key('discord-token', 'mfa.', 70),
  key('docker-token', 'dckr_pat_ dckr_oat_', 20, WORD, ANYWHERE),
  key('doppler-token', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', 32, DOTTED),
  key('dropbox-token', 'sl.', 60, WORD, MIXED),
  key('dropbox-token', 'sl.u.', 60, WORD),
  key('dub-key', 'dub_', 20, ALNUM, MIXED),
  shape('dynatrace-token', ['dt0c', 'dt0s'], `dt0[cs]\\d{2}\\.[A-Z0-9]{8,24}\\.[A-Z0-9]{40,64}`),
  key('e2b-key', 'e2b_', 36, HEX),
  key('easypost-key', 'EZAK EZTK', 40, ALNUM, MIXED),
  key('cursor-key', 'key_', 60, 'a-f0-9'),
  key('elevenlabs-key', 'sk_', 40, 'a-f0-9', MIXED),
  shape(
    'expo-push-token',
    ['exponentpushtoken[', 'expopushtoken['],
    `Expo(?:nent)?PushToken\\[[${WORD}]{16,40}\\]`,
    ANYWHERE,
  ),
  key('facebook-token', 'EAA', 50, WORD, MIXED),
  shape('fcm-key', ['aaaa'], `AAAA[${WORD}]{7}:[${WORD}]{100,200}`),
  key('figma-token', 'figd_ figu_ figo_ figoh_ figor_ figur_', 30),
  key('firecrawl-key', 'fc-', 32, 'a-f0-9', MIXED),
  key('fireworks-key', 'fw_', 20, ALNUM, MIXED),
  key('flutterwave-key', 'FLWSECK_TEST- FLWSECK- FLWPUBK_TEST- FLWPUBK- FLWSECK_LIVE-', 12, WORD, ANYWHERE),
  key('fly-token', 'fm1r_ fm1a_ fm2_', 60, BASE64),
  key('fly-token', 'fo1_', 36),
  key('frameio-token', 'fio-u-', 40, WORD),
  key('gitea-token', 'gta_', 36, HEX),
  key('github-token', 'ghp_ gho_ ghu_ ghs_ ghr_', 30, 'A-Za-z0-9_', ANYWHERE),
  key('github-pat', 'github_pat_', 22, 'A-Za-z0-9_', ANYWHERE),
  key(
    'gitlab-token',
    'glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glimt- gloas- glffct- glagent- glwt- gldt-',
    20,
    DOTTED,
    ANYWHERE,
  ),
  key('gitlab-token', 'GR1348941', 16, WORD, ANYWHERE),
  key('google-api-key', 'AIza', 35),
  key('google-api-key', 'AQ.', 30, WORD, MIXED),
  key('google-oauth-token', 'ya29.', 20, DOTTED),
  key('google-refresh-token', '1//0', 30),
  key('google-client-secret', 'GOCSPX-', 20),
  key('grafana-token', 'glsa_ glc_', 32, BASE64),
  key('grafana-key', 'eyJrIjoi', 50, BASE64),
  key('groq-key', 'gsk_', 30, ALNUM),
  shape('harness-token', ['pat.', 'sat.'], `[ps]at\\.[${WORD}]{22}\\.[${HEX}]{24}\\.[${ALNUM}]{20}`),
  key('heroku-key', 'HRKU-', 30, WORD, ANYWHERE),
  key('honeycomb-key', 'hcaik_ hcxik_ hcalk_ hcxlk_ hcamk_ hcaic_', 30, ALNUM),
  shape('hubspot-token', ['pat-'], `pat-[a-z]{2,4}\\d-${UUID}`),
  key('huggingface-token', 'hf_ api_org_', 30, ALNUM),
  shape('infisical-token', ['st.'], `st\\.[${WORD}]{8,64}\\.[${WORD}]{16,64}\\.[${WORD}]{16,64}`, {
    accepts: looksRandom,
  }),
  shape('ifttt-url', ['/with/key/'], `/with/key/[${WORD}]{20,80}`, ANYWHERE),
  key('infracost-key', 'ico-', 32, ALNUM),
  shape(
    'infura-url',
    ['infura.io/v3/', 'infura.io/ws/v3/'],
    `infura\\.io/(?:ws/)?v3/[${HEX}]{24,40}`,
    ANYWHERE,
  ),
  key('inngest-key', 'signkey-', 32, WORD),
  key('instagram-token', 'IGQV IGQW', 50, WORD),
  key('instagram-token', 'IGAA', 80, WORD, MIXED),
  key('intercom-token', 'dG9rO', 40, BASE64),
  key('intra42-secret', 's-s4t2ud- s-s4t2af-', 40, HEX),
  key('jina-key', 'jina_', 40),
  {
    ...shape('jwt', ['eyj'], `eyJ[${WORD}]{8,4096}\\.[${WORD}]{8,8192}(?:\\.[${WORD}]{0,8192}){1,3}`),
    edge: 'run',
  },
  shape('jwk', ['"d":', '"d" :', 'd\\":'], `"?d\\\\{0,7}"\\s?:\\s?\\\\{0,7}"[${WORD}]{40,700}`, {
    accepts: (key) => looksRandom(key.slice(-40)),
  }),
  key('langfuse-key', 'sk-lf-', 30),
  key('langsmith-key', 'lsv2_pt_ lsv2_sk_ lsv2_ls_', 30, 'A-Za-z0-9_'),
  shape('launchdarkly-key', ['api-', 'sdk-', 'mob-'], `(?:api|sdk|mob)-${UUID}`),
  key('linear-key', 'lin_api_ lin_oauth_ lin_wh_', 30, ALNUM, ANYWHERE),
  key('llamaindex-key', 'llx-', 36, ALNUM),
  shape('mailchimp-key', digits('-us'), `[${HEX}]{32}-us\\d{1,2}`, lead(/[A-Fa-f0-9]/, 32)),
  key('mailersend-token', 'mlsn.', 40, HEX),
  key('mailgun-key', 'key-', 32, 'a-f0-9', { accepts: (key) => /^key-[a-f0-9]{32}$/.test(key) }),
  key('mailgun-key', 'pubkey-', 32, 'a-f0-9'),
  shape('mapbox-token', ['sk.eyj', 'pk.eyj', 'tk.eyj'], `[spt]k\\.eyJ[${WORD}]{20,300}\\.[${WORD}]{16,64}`),
  shape('maxmind-key', ['_mmk'], `[${ALNUM}]{6}_[${ALNUM}]{29}_mmk`, lead(/[A-Za-z0-9_]/, 36)),
  key('mem0-key', 'm0-', 36, ALNUM, MIXED),
  key('mergify-key', 'mka_', 32, ALNUM),
  key('mongodb-atlas-secret', 'mdb_sa_sk_', 24),
  shape(
    'microsoft-teams-webhook',
    ['webhook.office.com/webhookb2/', 'outlook.office.com/webhook/'],
    `(?:webhook|outlook)\\.office\\.com/webhook(?:b2)?/[${HEX}@-]{36,80}/IncomingWebhook/[${WORD}/]{32,200}`,
    ANYWHERE,
  ),
  key('neon-key', 'napi_', 32, ALNUM, MIXED),
  key('netlify-token', 'nfp_ nfc_ nfo_ nfu_ nfb_', 36, ALNUM),
  key('newrelic-key', 'NRAK- NRII- NRIQ- NRSP- NRRA- NRAA- NRAL- NRBR-', 20),
  key('newrelic-key', 'NRJS-', 16, HEX),
  shape('newrelic-license', ['nral'], `[${ALNUM}]{28,42}NRAL`, lead(/[A-Za-z0-9]/, 28, 42)),
  key('notion-token', 'ntn_', 40, ALNUM),
  key('notion-token', 'secret_', 40, ALNUM, MIXED),
  key('npm-token', 'npm_', 30, ALNUM, ANYWHERE),
  shape('nuget-key', ['oy2'], `oy2[a-z0-9]{40,46}`),
  key('nvidia-key', 'nvapi-', 40),
  key('octopus-key', 'API-', 24, UPPER, MIXED),
  key('openai-key', 'sk-proj- sk-svcacct- sk-admin- sk-service- sk-None-', 20, WORD, ANYWHERE),
  key('openai-key', 'sk-', 24, ALNUM, MIXED),
  key('openai-session', 'sess-', 32, ALNUM, MIXED),
  key('openrouter-key', 'sk-or-v1-', 32, WORD, ANYWHERE),
  key('helicone-key', 'sk-helicone-', 20),
  shape('okta-token', ['ssws '], `SSWS 00[${WORD}]{38,44}`),
  key('openshift-token', 'sha256~', 40),
  key('particle-token', 'p8-', 36, ALNUM, MIXED),
  key('paypal-token', 'A21AA', 60),
  key('perplexity-key', 'pplx-', 30, ALNUM),
  key('pinecone-key', 'pcsk_', 30, 'A-Za-z0-9_'),
  key('pinterest-token', 'pina_', 30, ALNUM),
  shape(
    'plaid-token',
    ['access-', 'link-', 'public-'],
    `(?:access|link|public)-(?:sandbox|development|production)-${UUID}`,
  ),
  key('planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_app_', 32, 'A-Za-z0-9_.-'),
  key('polar-token', 'polar_oat_ polar_pat_ polar_at_ polar_rt_ polar_cs_', 32),
  key('posthog-key', 'phx_ phc_ phs_ pha_ phr_', 32),
  key('postman-key', 'PMAK-', 40, 'A-Za-z0-9-'),
  key('prefect-key', 'pnu_ pnb_', 32, ALNUM),
  key('private-key', 'xprv yprv zprv tprv', 90, ALNUM),
  key('private-key', 'RWRTY0Iy', 100, BASE64),
  shape(
    'private-key',
    ['ls0tls1crudjti'],
    `LS0tLS1CRUdJTi(?!BDRVJUSU|BQVUJMSU|BDRVJU|BYNTA5|BUUlVT)[${BASE64}]{40,8192}`,
  ),
  key('private-key', 'privkey:', 48, HEX),
  key('private-key', 'suiprivkey1', 50, ALNUM),
  key('private-key', 'ed25519:', 80, ALNUM),
  key('pulumi-token', 'pul-', 40, HEX),
  key('pypi-token', 'pypi-', 50),
  key('ramp-token', 'ramp_id_ ramp_sec_ ramp_tok_', 24, ALNUM),
  key('railway-token', 'rw_Fe26.2**', 32, 'A-Za-z0-9*_-'),
  key('razorpay-key', 'rzp_live_ rzp_test_', 12, ALNUM),
  key('readme-key', 'rdme_', 40, LOWER),
  key('render-key', 'rnd_', 24, ALNUM, MIXED),
  key('replicate-token', 'r8_', 30, ALNUM),
  shape('resend-key', ['re_'], `re_[${ALNUM}]{6,12}_[${ALNUM}]{16,40}`, MIXED),
  key('retool-key', 'retool_', 24, ALNUM, MIXED),
  key('rootly-key', 'rootly_', 40, HEX),
  key('rubygems-key', 'rubygems_', 40, HEX),
  key('runpod-key', 'rpa_', 36, ALNUM, MIXED),
  shape('salesforce-token', ['00d'], `00D[${ALNUM}]{12,15}![${DOTTED}]{60,140}`),
  key('scaleway-access-key', 'SCW', 17, UPPER, MIXED),
  key('scalingo-token', 'tk-us- tk-eu-', 40),
  key('segment-token', 'sgp_', 36, WORD, MIXED),
  shape('sendgrid-key', ['sg.'], `SG\\.[${WORD}]{16,64}\\.[${WORD}]{16,128}`),
  key('sentry-token', 'sntrys_ sntryu_ sntrya_ sntryi_', 40, BASE64),
  key('settlemint-token', 'sm_pat_ sm_aat_ sm_sat_', 16, ALNUM),
  key('shippo-token', 'shippo_live_ shippo_test_', 24, HEX),
  key('shopify-token', 'shpat_ shpca_ shppa_ shpss_ shptka_ shpwh_ shpatf_', 32, HEX),
  key(
    'slack-token',
    'xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xox xapp- xwfp-',
    10,
    'A-Za-z0-9.-',
    ANYWHERE,
  ),
  key('slack-cookie', 'xoxd-', 20, 'A-Za-z0-9%+/=', ANYWHERE),
  key(
    'slack-webhook',
    'hooks.slack.com/services/ hooks.slack.com/workflows/ hooks.slack.com/triggers/',
    20,
    'A-Za-z0-9/_+-',
  ),
  key('snyk-token', 'snyk_uat. snyk_sat.', 32, DOTTED),
  key('sonar-token', 'squ_ sqp_ sqa_ sqb_', 36, ALNUM),
  key('sourcegraph-token', 'sgp_local_ sgd_ slk_', 36, HEX),
  shape('square-token', ['sq0'], `sq0[a-z]{2,4}-[${WORD}]{20,64}`),
  key('square-token', 'EAAA', 55),
  key('statsig-key', 'secret-', 36, ALNUM, MIXED),
  key('strapi-token', 'strapi_', 40, HEX),
  key('stripe-key', 'sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_', 10, BASE64, ANYWHERE),
  key('stripe-key', 'sk_org_ rk_org_', 20, BASE64, ANYWHERE),
  key('stripe-webhook-secret', 'whsec_', 24, 'A-Za-z0-9+/='),
  key('supabase-key', 'sbp_ sb_secret_', 30),
  key('tailscale-key', 'tskey-', 20, WORD, ANYWHERE),
  key('tavily-key', 'tvly-', 20),
  shape('telegram-token', [':aa'], `\\d{8,10}:AA[${WORD}]{32,128}`, {
    ...lead(/\d/, 8, 10),
    ...ANYWHERE,
  }),
  key('tencent-secret-id', 'AKID', 28, ALNUM, MIXED),
  shape(
    'terraform-token',
    ['.atlasv1.'],
    `[${ALNUM}]{14}\\.atlasv1\\.[${WORD}=]{50,80}`,
    lead(/[A-Za-z0-9]/, 14),
  ),
  key('together-key', 'tgp_v1_', 36),
  key('trigger-key', 'tr_dev_ tr_prod_ tr_stg_ tr_preview_ tr_pat_', 16, ALNUM),
  shape('tinybird-token', ['p.eyj'], `p\\.eyJ[${WORD}]{40,300}\\.[${WORD}]{30,64}`),
  shape(
    'twilio-key',
    Array.from('0123456789abcdef', (digit) => `sk${digit}`),
    'SK[0-9a-f]{32,128}',
  ),
  key('twitter-token', 'AAAAAAAAAAAAAAAAAA', 40, 'A-Za-z0-9%', MIXED),
  key('typeform-token', 'tfp_', 40, DOTTED),
  key('unkey-key', 'unkey_', 20, ALNUM, MIXED),
  key('valtown-token', 'vtwn_', 24, ALNUM),
  key('vault-token', 'hvs. hvb. hvr.', 24),
  key('vercel-token', 'vcp_ vci_ vca_ vcr_ vck_', 24, ALNUM),
  key('vercel-blob-token', 'vercel_blob_rw_', 24, 'A-Za-z0-9_', ANYWHERE),
  key('voyage-key', 'pa-', 40, WORD, MIXED),
  key('wandb-key', 'wandb_v1_', 40, 'A-Za-z0-9_'),
  key('webflow-token', 'ws-', 60, HEX),
  key('woocommerce-key', 'ck_ cs_', 40, 'a-f0-9', MIXED),
  key('xai-key', 'xai-', 40, ALNUM),
  key('yandex-key', 'AQVN', 32, WORD),
  key('yandex-key', 'YCA YCM YCN YCO YCP', 36, WORD, MIXED),
  shape('yandex-token', ['t1.9eu', 't1.'], `t1\\.[${BASE64}]{40,600}\\.[${BASE64}]{40,200}`),
  shape('yandex-token', digits('y', '_'), `y[0-6]_[${WORD}]{50,80}`),
  shape(
    'zapier-hook',
    ['hooks.zapier.com/hooks/catch/'],
    `hooks\\.zapier\\.com/hooks/catch/[${WORD}/]{8,100}`,
    ANYWHERE,
  ),
  key('zoho-token', '1000.', 64, 'a-f0-9.'),
  key('zuplo-key', 'zpka_', 32, 'A-Za-z0-9_'),

  // Hashes of passwords, which are tried offline.
  shape('password-hash', ['$2a$', '$2b$', '$2y$'], '\\$2[aby]\\$\\d\\d\\$[./A-Za-z0-9]{53}', ANYWHERE),
  shape(
    'password-hash',
    ['$1$', '$5$', '$6$', '$y$', '$7$', '$apr1$'],
    '\\$(?:1|5|6|y|7|apr1)\\$(?:rounds=\\d{1,9}\\$)?[./A-Za-z0-9]{2,64}\\$(?:[./A-Za-z0-9]{1,64}\\$)?[./+A-Za-z0-9]{20,120}',
    ANYWHERE,
  ),
  shape(
    'password-hash',
    ['$argon2', '$pbkdf2', '$scrypt'],
    '\\$(?:argon2|pbkdf2|scrypt)[a-z0-9-]{0,16}\\$[\\w=,$./+-]{30,400}',
    ANYWHERE,
  ),
  shape('password-hash', ['{ssha', '{sha'], '\\{S?SHA(?:256|512)?\\}[A-Za-z0-9+/]{24,120}={0,2}', ANYWHERE),

  // What says of itself that it is a key, whoever made it: `acme_live_…`, `acme-sk-…`, `sk_…`.
  shape(
    'api-key',
    [...SAYS_SO.map((word) => `_${word}_`), '-sk-', '-rk-', '-pat-'],
    `[A-Za-z][A-Za-z0-9]{1,15}(?:[_-][A-Za-z0-9]{1,12}){0,2}(?:_(?:${SAYS_SO.join('|')})_|-(?:[rs]k|pat)-)[${WORD}]{20,512}`,
    { ...SELF_DECLARED, lead: { characters: /[A-Za-z0-9_-]/, least: 2, most: 32 } },
  ),
  shape(
    'api-key',
    SAYS_SO.map((word) => `${word}_`),
    `(?:${SAYS_SO.join('|')})_[${WORD}]{20,512}`,
    SELF_DECLARED,
  ),
]

/** Keys without a literal, each at the beginning of a word: what stands before is looked at last, which is several times faster. */
export const BARE_SHAPES: readonly { readonly id: string; readonly pattern: RegExp }[] = [
  { id: 'discord-token', pattern: /[MNO](?<!\w.|.-.)[\w-]{22,27}\.[\w-]{6,7}\.[\w-]{27,40}/g },
  { id: 'vault-token', pattern: /s\.(?<![\w.]..|.-..)[A-Za-z0-9]{24}(?![\w.(])/g },
  {
    id: 'asana-token',
    pattern: /[012]\/(?<![\w./]..|.-..)(?:\d{13,17}(?:\/\d{13,17})?:)?[0-9a-f]{32}(?!\w)/g,
  },
]
