/**
 * Code in colours, loaded when the first code is shown. The highlighter says which part is what; its HTML is never used. Code that is
 * long, or in a language that is not among these, stays as it is.
 */
import type { HLJSApi, LanguageFn } from 'highlight.js'

/** `scope`: such as `keyword`, `title.function`. */
export type CodeToken = { readonly text: string; readonly scope?: string }

const LONGEST = 30_000

type Load = () => Promise<{ readonly default: LanguageFn }>

const LANGUAGES: { readonly [name: string]: Load } = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  go: () => import('highlight.js/lib/languages/go'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

const NAMES: ReadonlyMap<string, string> = new Map([
  ['sh', 'bash'],
  ['shell', 'bash'],
  ['zsh', 'bash'],
  ['console', 'bash'],
  ['h', 'c'],
  ['cc', 'cpp'],
  ['hpp', 'cpp'],
  ['c++', 'cpp'],
  ['cs', 'csharp'],
  ['patch', 'diff'],
  ['toml', 'ini'],
  ['js', 'javascript'],
  ['jsx', 'javascript'],
  ['mjs', 'javascript'],
  ['cjs', 'javascript'],
  ['jsonc', 'json'],
  ['jsonl', 'json'],
  ['kt', 'kotlin'],
  ['md', 'markdown'],
  ['py', 'python'],
  ['rb', 'ruby'],
  ['rs', 'rust'],
  ['ts', 'typescript'],
  ['tsx', 'typescript'],
  ['mts', 'typescript'],
  ['html', 'xml'],
  ['svg', 'xml'],
  ['vue', 'xml'],
  ['yml', 'yaml'],
])

/** By what is written after a fence, or the end of a file's name. */
export function languageOf(name: string): string | undefined {
  const [word = ''] = name
    .trim()
    .toLowerCase()
    .slice(0, 100)
    .split(/[\s,{]/, 1)
  const end = word.slice(word.lastIndexOf('.') + 1)
  const language = NAMES.get(end) ?? end
  return Object.hasOwn(LANGUAGES, language) ? language : undefined
}

/** Undefined where it stays as it is. */
export async function highlight(code: string, name: string): Promise<readonly CodeToken[] | undefined> {
  const language = languageOf(name)
  const load = language === undefined ? undefined : LANGUAGES[language]
  if (language === undefined || load === undefined || code.length > LONGEST) return undefined
  const hljs = await core()
  if (hljs.getLanguage(language) === undefined) hljs.registerLanguage(language, (await load()).default)
  const { _emitter } = hljs.highlight(code, { language, ignoreIllegals: true })
  const tokens: CodeToken[] = []
  addTokens(tokens, (_emitter as unknown as { rootNode: HljsNode }).rootNode, undefined)
  // Whatever it makes of it, the code is the code.
  return tokens.map(({ text }) => text).join('') === code ? tokens : undefined
}

let loading: Promise<HLJSApi> | undefined
async function core(): Promise<HLJSApi> {
  loading ??= import('highlight.js/lib/core').then(({ default: hljs }) => hljs.newInstance())
  return loading
}

type HljsNode = {
  readonly scope?: string
  readonly language?: string
  readonly children: readonly (HljsNode | string)[]
}

function addTokens(tokens: CodeToken[], node: HljsNode, around: string | undefined): void {
  const scope = node.scope ?? around
  for (const child of node.children) {
    if (typeof child !== 'string') addTokens(tokens, child, scope)
    else if (child !== '') tokens.push(scope === undefined ? { text: child } : { text: child, scope })
  }
}
