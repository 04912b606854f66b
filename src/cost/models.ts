/**
 * One model, many spellings: the id a provider, a cloud or a gateway writes, brought to the name the price table uses. Only
 * spellings that mean the same model at the same price are undone; what is left over is a different model, and stays unpriced.
 */

/** Longer ids are nobody's model; the cap keeps the patterns below cheap on hostile input. */
const LONGEST = 200

/** Gateways and clouds that pass a model on under its own name. */
const PREFIXES = new Set(
  (
    'anthropic openai google models publishers vertex vertex_ai google-vertex google-vertex-anthropic gemini bedrock ' +
    'bedrock_converse amazon-bedrock converse invoke openrouter litellm litellm_proxy azure azure_ai openai-codex codex ' +
    'google-ai-studio google_genai'
  ).split(' '),
)

/** What stands after the name and changes nothing about it. Tried in turn until none fits. */
const SUFFIXES: readonly RegExp[] = [
  /\[1m\]$/,
  /@(?:\d{8}|default|latest)$/,
  /(?:-v\d{1,2})?:\d{1,2}(?::\d{1,4}k)?$/,
  /-v\d{1,2}$/,
  /-latest$/,
]

/** Dates come off last, and one at a time: a dated model may have a price of its own. */
const DATES: readonly RegExp[] = [
  /-20\d{6}$/,
  /-20\d\d-\d\d-\d\d$/,
  /(?<=-preview)-\d\d-(?:\d\d|20\d\d)$/,
  /(?<=^gemini-.{3,40})-00\d$/,
]

/** True for models that answer without a provider: Claude Code's `<synthetic>`, and engines in stub mode. They cost nothing. */
export function isNotBilled(model: string): boolean {
  return /^<[^<>]{1,60}>$/.test(model) || /^(?:stub|[\w.-]{1,60}-stub|stub-[\w.-]{1,60})$/i.test(model)
}

/** The names under which a model may stand in the price table, the most specific first. */
export function modelNames(id: string): readonly string[] {
  if (id.length > LONGEST) return []
  const name = inOurOrder(withoutSuffixes(withoutPrefixes(id.trim().toLowerCase())))
  const names = [name]
  for (const date of DATES) {
    const bare = inOurOrder(withoutSuffixes(name.replace(date, '')))
    if (bare !== name) names.push(bare)
  }
  return names
}

function withoutPrefixes(id: string): string {
  // An ARN ends in the name of the model or of the inference profile.
  let name = id.replace(/^arn:aws[\w-]{0,10}:bedrock:[^/]{0,80}\//, '')
  for (let slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/')) {
    if (!PREFIXES.has(name.slice(0, slash))) return name
    name = name.slice(slash + 1)
  }
  return name.replace(/^(?:(?:us|eu|apac|au|jp|ca|sa|me|af|us-gov|global)\.)?anthropic\./, '')
}

function withoutSuffixes(id: string): string {
  let name = id
  for (let before = ''; before !== name;) {
    before = name
    for (const suffix of SUFFIXES) name = name.replace(suffix, '')
  }
  return name
}

/** Claude's names have hyphens, and from 4 on the family before the number: `claude-4.5-sonnet-thinking` is `claude-sonnet-4-5`. */
function inOurOrder(name: string): string {
  if (!name.startsWith('claude-')) return name
  const hyphened = name.replace(/\./g, '-').replace(/-thinking$/, '')
  return hyphened.replace(
    /^claude-([4-9](?:-\d{1,2})?)-(opus|sonnet|haiku|fable|mythos)(?=$|-20\d{6}$)/,
    'claude-$2-$1',
  )
}
