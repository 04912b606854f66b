/**
 * Redaction at the door: nothing that is recorded reaches a disk with a secret that can be known by its value, its name or its
 * shape. Values go in and come out; the same object comes back when there was nothing to redact. When it cannot do its work it
 * says so and withholds the content, and never hands it on as it was.
 */
import { HansardError } from '../errors.ts'
import { changeText } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import type { Json } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { redactEnd } from './cut-off.ts'
import { checkGiven, secretsIn, toNeedles, type KnownValue } from './known-values.ts'
import { placeholder, splitId, toIdPlaceholders } from './placeholder.ts'
import { redactEntry, redactSession } from './records.ts'
import { createKnownValues, redactByRules, redactKnown } from './text.ts'
import { walk } from './walk.ts'
import { withheldEntry, withheldSession } from './withheld.ts'

export type Redactor = {
  text(text: string): string
  /** For what files are called by: a safe id stays one. */
  id(id: string): string
  /** Any JSON: every string and every key in it. Throws when the value is nested deeper than a redactor goes. `entry` and `session` withhold instead. */
  json(value: Json): Json
  /** `isCut`: an answer that broke off, of which nothing is left of a secret that it ends in. */
  entry(entry: Entry, isCut?: boolean): Entry
  /** The text of an answer that broke off. */
  cutText(text: string): string
  session(session: Session): Session
  /** How many secrets each rule took out so far. */
  counts(): ReadonlyMap<string, number>
}

export type RedactorOptions = {
  /** At least 16 bytes, kept with the archive: what makes placeholders stable there and useless elsewhere. */
  readonly key: Buffer
  /** The environment, whose secret-looking variables become known values. Not read from the process here. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Secrets known otherwise: a proxy's own credentials. Of at least 4 characters each. */
  readonly values?: readonly KnownValue[]
}

export function createRedactor({ key, env = {}, values = [] }: RedactorOptions): Redactor {
  if (key.length < 16) {
    throw new HansardError('invalid-argument', 'the key for redaction has fewer than 16 bytes', {
      hint: 'use 32 random bytes, and keep them with the archive',
    })
  }
  const known = createKnownValues(toNeedles([...checkGiven(values), ...secretsIn(env)]))
  const counts = new Map<string, number>()
  const replace = (rule: string, secret: string): string => {
    counts.set(rule, (counts.get(rule) ?? 0) + 1)
    return placeholder(key, rule, secret)
  }

  const exact = (text: string): string => redactKnown(text, known, replace)
  const text = (value: string): string => redactByRules(exact(value), replace)
  const cutText = (value: string): string => redactEnd(text(value), known, replace)
  const id = (value: string): string => {
    const parts = splitId(value).map((part, i) => (i % 2 === 1 ? part : toIdPlaceholders(text(part))))
    const redacted = parts.length === 1 ? (parts[0] as string) : parts.join('')
    const isTooLong = redacted.length > LONGEST_ID && redacted.length > value.length
    return isTooLong ? toIdPlaceholders(replace('id', value)) : redacted
  }
  const ways = { text, exact, id, replace, cleanKeys: new Set<string>() }

  const withoutCutSecret = (entry: Entry): Entry => {
    const last = entry.blocks.at(-1)
    if (last === undefined) return entry
    return { ...entry, blocks: [...entry.blocks.slice(0, -1), changeText(last, cutText)] }
  }

  return {
    text,
    cutText,
    id,
    json: (value) => walk(value, undefined, ways, 0),
    entry(entry, isCut = false) {
      try {
        const redacted = redactEntry(entry, ways)
        return isCut ? withoutCutSecret(redacted) : redacted
      } catch (error) {
        return redactEntry(withheldEntry(entry, error), ways)
      }
    },
    session(session) {
      try {
        return redactSession(session, ways)
      } catch (error) {
        return redactSession(withheldSession(session, error), ways)
      }
    },
    counts: () => new Map(counts),
  }
}

/** What `checkId` takes. */
const LONGEST_ID = 128
