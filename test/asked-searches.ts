/** Searches of every kind, each with what it means said in another way. */
import { filesOf } from '../src/transcript/tool-files.ts'
import type { PlainEntry } from './plain-search.ts'

export type Asked = {
  readonly query: string
  readonly caseSensitive?: boolean
  readonly means: (entry: PlainEntry) => boolean
}

type Means = Asked['means']

export const word =
  (text: string): Means =>
  (one) =>
    one.says(text)
export const begun =
  (text: string): Means =>
  (one) =>
    one.says(text, 'begun')
export const within =
  (text: string): Means =>
  (one) =>
    one.has(text)
export const pattern =
  (source: RegExp): Means =>
  (one) =>
    one.matches(source)
export const not =
  (means: Means): Means =>
  (one) =>
    !means(one)
export const all =
  (...parts: readonly Means[]): Means =>
  (one) =>
    parts.every((means) => means(one))
export const any =
  (...parts: readonly Means[]): Means =>
  (one) =>
    parts.some((means) => means(one))

const same = (a: string | undefined, b: string): boolean => a?.toLowerCase() === b
export const role =
  (name: string): Means =>
  ({ entry }) =>
    entry.role === name
const tool =
  (is: (name: string) => boolean): Means =>
  ({ entry }) =>
    entry.blocks.some(
      (block) =>
        (block.type === 'tool-call' || block.type === 'tool-result') && is((block.name ?? '').toLowerCase()),
    )
const since =
  (instant: string): Means =>
  ({ entry, session }) => {
    const at = entry.at ?? session.startedAt
    return at !== undefined && Date.parse(at) >= Date.parse(instant)
  }
const until =
  (instant: string): Means =>
  ({ entry, session }) => {
    const at = entry.at ?? session.startedAt
    return at !== undefined && Date.parse(at) < Date.parse(instant)
  }
const isError: Means = ({ entry }) =>
  entry.blocks.some(
    (block) =>
      block.type === 'error' ||
      (block.type === 'tool-result' &&
        (block.isError === true ||
          block.error !== undefined ||
          (Array.isArray(block.output) && block.output.some(({ type }) => type === 'error')))),
  )
const isAgent =
  (name: string): Means =>
  ({ session }) =>
    same(session.agent, name) || same(session.native?.agent, name)
const hasModel =
  (name: string): Means =>
  ({ entry, session }) => {
    const own = entry.role === 'assistant' && entry.source === 'primary' ? session.model : undefined
    return (entry.model ?? own ?? '').toLowerCase().includes(name)
  }
const costs =
  (is: (usd: number) => boolean): Means =>
  ({ session }) => {
    const usd = session.totals?.cost?.usd ?? session.reportedCost
    return usd !== undefined && is(Number(usd))
  }
const names =
  (is: (file: string) => boolean): Means =>
  ({ entry }) =>
    filesOf(entry).some((file) => is(file.toLowerCase()))

export const ASKED: readonly Asked[] = [
  { query: 'error', means: word('error') },
  { query: 'ERROR', means: word('error') },
  { query: 'the error', means: all(word('the'), word('error')) },
  { query: '"the error"', means: word('the error') },
  { query: 'err*', means: begun('err') },
  { query: 'e*', means: begun('e') },
  { query: 'every*', means: begun('every') },
  { query: 'rol* OR mode*', means: any(begun('rol'), begun('mode')) },
  { query: 'error -fi*', means: all(word('error'), not(begun('fi'))) },
  { query: '"no such fil"*', means: begun('no such fil') },
  { query: 'error -the', means: all(word('error'), not(word('the'))) },
  { query: '-function', means: not(word('function')) },
  { query: 'NOT function role:user', means: all(not(word('function')), role('user')) },
  { query: 'error OR warning', means: any(word('error'), word('warning')) },
  { query: '(error OR warning) file', means: all(any(word('error'), word('warning')), word('file')) },
  { query: 'error OR warning file', means: any(word('error'), all(word('warning'), word('file'))) },
  {
    query: '-error -the OR "not found"',
    means: any(all(not(word('error')), not(word('the'))), word('not found')),
  },
  { query: "'=> {'", means: within('=> {') },
  { query: '=>', means: within('=>') },
  { query: "'é'", means: within('é') },
  { query: "'ß'", means: within('ß') },
  { query: "'ẞ'", means: within('ẞ') },
  { query: "'i'", means: within('i') },
  { query: "'ou'", means: within('ou') },
  { query: "'…'", means: within('…') },
  { query: "'İ'", means: within('İ') },
  { query: 'İstanbul', means: word('İstanbul') },
  { query: 'istanbul', means: word('istanbul') },
  { query: "'İstanbul'", means: within('İstanbul') },
  { query: "'istanbul'", means: within('istanbul') },
  { query: 'strasse', means: word('strasse') },
  { query: 'STRAẞE', means: word('straße') },
  { query: "'straße'", means: within('straße') },
  { query: 'cafe', means: word('cafe') },
  { query: 'cafe\u0301', means: word('café') },
  { query: "'café'", means: within('café') },
  { query: "'cafe\u0301'", means: within('cafe\u0301') },
  { query: 'ΟΔΟΣ', means: word('οδος') },
  { query: "'οδός'", means: within('οδός') },
  { query: 'ｶﾞｲﾄﾞ', means: word('ガイド') },
  { query: 'ガイド', means: word('ガイド') },
  { query: "'ｶﾞｲﾄﾞ'", means: within('ｶﾞｲﾄﾞ') },
  { query: '错误', means: word('错误') },
  { query: '修', means: word('修') },
  { query: "'错误'", means: within('错误') },
  { query: "'错'", means: within('错') },
  { query: '한국', means: word('한국') },
  { query: '👩\u200d💻', means: all((one) => one.says('👩 💻')) },
  { query: "'👩\u200d💻'", means: within('👩\u200d💻') },
  { query: '✅', means: word('✅') },
  { query: "'✅'", means: within('✅') },
  { query: 'שלום', means: word('שלום') },
  { query: 'مرحبا', means: word('مرحبا') },
  { query: "'مرحبا'", means: within('مرحبا') },
  { query: 'привет', means: word('привет') },
  { query: '/[\\u3040-\\u30ff]{2}/', means: pattern(/[\u3040-\u30ff]{2}/iu) },
  { query: '/\\p{Script=Han}+/u', means: pattern(/\p{Script=Han}+/iu) },
  { query: '/[äöüß]/', means: pattern(/[äöüß]/iu) },
  { query: '/\\d{5}/', means: pattern(/\d{5}/iu) },
  { query: '/err(or)?s?:/', means: pattern(/err(or)?s?:/iu) },
  { query: '/^import .* from/m', means: pattern(/^import .* from/imu) },
  { query: '/\\bclass\\b|\\bstruct\\b/', means: pattern(/\bclass\b|\bstruct\b/iu) },
  { query: '/[^\\x00-\\x7f]/', means: pattern(/\P{ASCII}/u) },
  { query: 'Error', caseSensitive: true, means: (one) => one.spells('Error') },
  { query: "'Error:'", caseSensitive: true, means: (one) => one.hasExactly('Error:') },
  { query: '/[A-Z]{3}_[A-Z]+/', caseSensitive: true, means: pattern(/[A-Z]{3}_[A-Z]+/u) },
  { query: 'café', caseSensitive: true, means: (one) => one.spells('café') },
  { query: 'role:user', means: role('user') },
  { query: 'role:tool,system error', means: all(any(role('tool'), role('system')), word('error')) },
  { query: '-role:assistant error', means: all(not(role('assistant')), word('error')) },
  { query: 'tool:bash', means: tool((name) => name === 'bash') },
  { query: 'tool:*file*', means: tool((name) => name.includes('file')) },
  { query: '-tool:* has:error', means: all(not(tool((name) => name !== '')), isError) },
  { query: 'agent:codex', means: isAgent('codex') },
  { query: 'agent:claude-code error', means: all(isAgent('claude-code'), word('error')) },
  { query: 'model:claude', means: hasModel('claude') },
  { query: 'model:gpt error', means: all(hasModel('gpt'), word('error')) },
  { query: '-model:gpt role:assistant', means: all(not(hasModel('gpt')), role('assistant')) },
  { query: 'project:a', means: ({ session }) => (session.cwd ?? '').toLowerCase().includes('a') },
  { query: 'branch:main', means: ({ session }) => same(session.git?.branch, 'main') },
  { query: 'run:*', means: ({ session }) => session.run !== undefined },
  { query: 'flow:*', means: ({ session }) => session.run?.flow !== undefined },
  { query: 'step:*', means: ({ session }) => session.run?.step !== undefined },
  {
    query: 'status:completed error',
    means: all(({ session }) => session.status === 'completed', word('error')),
  },
  { query: '-status:completed', means: ({ session }) => session.status !== 'completed' },
  { query: 'source:primary error', means: all(({ entry }) => entry.source === 'primary', word('error')) },
  { query: 'source:subagent', means: ({ entry }) => entry.source.startsWith('subagent:') },
  { query: 'since:2026-01-01T00:00:00Z', means: since('2026-01-01T00:00:00Z') },
  { query: 'until:2025-09-01T00:00:00Z error', means: all(until('2025-09-01T00:00:00Z'), word('error')) },
  { query: '-since:2026-01-01T00:00:00Z', means: not(since('2026-01-01T00:00:00Z')) },
  { query: 'cost>0', means: costs((usd) => usd > 0) },
  {
    query: 'cost<0.5 error',
    means: all(
      costs((usd) => usd < 0.5),
      word('error'),
    ),
  },
  { query: 'has:error', means: isError },
  {
    query: 'has:thinking error',
    means: all(({ entry }) => entry.blocks.some(({ type }) => type === 'thinking'), word('error')),
  },
  { query: 'file:.ts', means: names((file) => file.includes('.ts')) },
  { query: 'file:src/*.py', means: names((file) => /src\/.*\.py/s.test(file)) },
  {
    query: '-file:a has:tool error',
    means: all(
      not(names((file) => file.includes('a'))),
      not(({ entry }) => !entry.blocks.some(({ type }) => type === 'tool-call' || type === 'tool-result')),
      word('error'),
    ),
  },
  { query: 'role:user OR has:error', means: any(role('user'), isError) },
  { query: "(role:user OR 'é') -the", means: all(any(role('user'), within('é')), not(word('the'))) },
]
