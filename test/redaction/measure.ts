/** How much of a corpus of invented secrets the redactor takes out: by kind as they are, and by the form in which they are shown. */
import { createRedactor } from '../../src/redact/redactor.ts'
import { FORMS, PLAIN, type Form } from './forms.ts'
import {
  CODE,
  CONNECTIONS,
  COOKIES,
  CREDENTIAL_FILES,
  DOTENV,
  OTHER_WORDS,
  OUTPUT,
  SHELLS_AND_PROSE,
  VARIABLES_AND_HEADERS,
} from './named-values.ts'
import { privateKeys } from './private-keys.ts'
import { valuesOf, type Value } from './template.ts'
import { VENDOR_SHAPES } from './vendor-values.ts'

/** The same for the same seed. */
export function makeCorpus(seed = 1): Value[] {
  return [
    ...valuesOf('vendors’ shapes', VENDOR_SHAPES, seed),
    ...privateKeys('private keys', seed),
    ...valuesOf('providers’ variables and headers', VARIABLES_AND_HEADERS, seed),
    ...valuesOf('connection strings and URLs', CONNECTIONS, seed),
    ...valuesOf('.env lines', DOTENV, seed),
    ...valuesOf('configuration and code', CODE, seed),
    ...valuesOf('headers and cookies', COOKIES, seed),
    ...valuesOf('kubeconfig, docker, netrc, pgpass', CREDENTIAL_FILES, seed),
    ...valuesOf('flags, shells, prose, tables', SHELLS_AND_PROSE, seed),
    ...valuesOf('the same in other words', OTHER_WORDS, seed),
    ...valuesOf('output of programs', OUTPUT, seed),
  ]
}

export type Row = { readonly name: string; readonly found: number; readonly of: number }
export type Measured = {
  readonly values: number
  /** Vendors, and programs, files and languages that carry secrets. */
  readonly carriers: number
  readonly plain: Row
  readonly kinds: readonly Row[]
  /** Of the values that are found plain. */
  readonly forms: readonly (Row & { readonly isPromised: boolean })[]
  readonly missed: readonly Value[]
}

export function measureCorpus(corpus: readonly Value[]): Measured {
  const redactor = createRedactor({ key: Buffer.alloc(32, 7) })
  const isFound = (value: Value, form: Form): boolean => !leaks(redactor.text(form.show(value)), value)
  const found = new Set(corpus.filter((value) => isFound(value, PLAIN)))
  return {
    values: corpus.length,
    carriers: new Set(corpus.map(({ carrier }) => carrier)).size,
    plain: { name: PLAIN.name, found: found.size, of: corpus.length },
    kinds: [...new Set(corpus.map(({ kind }) => kind))].map((name) => {
      const own = corpus.filter(({ kind }) => kind === name)
      return { name, found: own.filter((value) => found.has(value)).length, of: own.length }
    }),
    forms: FORMS.map((form) => ({
      name: form.name,
      isPromised: form.isPromised,
      found: [...found].filter((value) => isFound(value, form)).length,
      of: found.size,
    })),
    missed: corpus.filter((value) => !found.has(value)),
  }
}

/** True when eight characters in a row of what is random are left, or half of something shorter. */
function leaks(redacted: string, { parts }: Value): boolean {
  const texts = [redacted, withoutNoise(redacted)]
  return parts.some((part) => {
    const width = Math.min(8, Math.max(4, Math.ceil(part.length / 2)))
    for (let at = 0; at + width <= part.length; at += 1)
      if (texts.some((text) => text.includes(part.slice(at, at + width)))) return true
    return false
  })
}

const COLOURS = new RegExp(String.raw`(?:${'\u001B'}|\\+u001b|\^\[)\[[\d;]*[mK]`, 'g')
const PLACEHOLDER = /\[REDACTED:[^\]]*\]/g

/** Without what forms put into a secret. */
function withoutNoise(text: string): string {
  return text
    .replace(COLOURS, '')
    .replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\+u00([2-7][0-9a-f])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replace(PLACEHOLDER, '\u0000')
    .replace(/[\u200B\u00AD\r\n]|\\+n/g, '')
}
