/**
 * Redaction at the door: nothing that is recorded reaches a disk with a secret that can be known by its value, its name or its
 * shape. Values go in and come out; the same object comes back when there was nothing to redact. When it cannot do its work it
 * says so and withholds the content, and never hands it on as it was.
 */
import { HansardError } from '../errors.ts'
import type { Block, Content } from '../transcript/block.ts'
import type { Entry } from '../transcript/entry.ts'
import { isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { secretsIn, toNeedles, type KnownValue } from './known-values.ts'
import { placeholder } from './placeholder.ts'
import { createKnownValues, redactByRules, redactKnown } from './text.ts'
import { redactJson } from './walk.ts'

export type Redactor = {
  text(text: string): string
  /** Throws when the value is nested deeper than a redactor goes. `entry` and `session` withhold instead. */
  json(value: Json): Json
  entry(entry: Entry): Entry
  session(session: Session): Session
  /** How many secrets each rule took out so far. */
  counts(): ReadonlyMap<string, number>
}

export type RedactorOptions = {
  /** At least 16 bytes, kept with the archive: what makes placeholders stable there and useless elsewhere. */
  readonly key: Buffer
  /** The environment, whose secret-looking variables become known values. Not read from the process here. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Secrets known otherwise: a proxy's own credentials. Of at least 8 characters each. */
  readonly values?: readonly KnownValue[]
}

export function createRedactor({ key, env = {}, values = [] }: RedactorOptions): Redactor {
  if (key.length < 16) {
    throw new HansardError('invalid-argument', 'the key for redaction has fewer than 16 bytes', {
      hint: 'use 32 random bytes, and keep them with the archive',
    })
  }
  const known = createKnownValues(toNeedles([...values, ...secretsIn(env)]))
  const counts = new Map<string, number>()
  const replace = (rule: string, secret: string): string => {
    counts.set(rule, (counts.get(rule) ?? 0) + 1)
    return placeholder(key, rule, secret)
  }

  const exact = (text: string): string => redactKnown(text, known, replace)
  const text = (value: string): string => redactByRules(exact(value), replace)
  const ways = { text, exact, replace, cleanKeys: new Set<string>() }
  const json = (value: Json): Json => redactJson(value, ways)
  const content = (value: Content): Content => (typeof value === 'string' ? text(value) : value)

  const block = (value: Block): Block => {
    switch (value.type) {
      case 'text':
        return { ...value, text: content(value.text) }
      case 'thinking':
        return {
          ...value,
          text: content(value.text),
          // Signed and encrypted by the provider: random by nature, and worthless when changed.
          ...(value.signature !== undefined && { signature: exact(value.signature) }),
          ...(value.redacted !== undefined && { redacted: exact(value.redacted) }),
        }
      case 'tool-call':
        return {
          ...value,
          name: text(value.name),
          ...(value.input !== undefined && { input: json(value.input) }),
        }
      case 'tool-result':
        return {
          ...value,
          ...(value.output !== undefined && {
            output: Array.isArray(value.output) ? value.output.map(block) : content(value.output as Content),
          }),
          ...(value.error !== undefined && { error: text(value.error) }),
        }
      case 'image':
        return {
          ...value,
          ...(typeof value.data === 'string' && { data: exact(value.data) }),
          ...(value.url !== undefined && {
            url: value.url.startsWith('data:') ? exact(value.url) : text(value.url),
          }),
        }
      case 'error':
        return { ...value, message: text(value.message) }
      case 'unknown':
        return { ...value, raw: json(value.raw) }
    }
  }

  return {
    text,
    json,
    entry(entry) {
      try {
        const { usage, metadata } = entry
        return {
          ...entry,
          blocks: entry.blocks.map(block),
          ...(usage?.raw !== undefined && { usage: { ...usage, raw: json(usage.raw) } }),
          ...(metadata !== undefined && { metadata: json(metadata) as JsonObject }),
        }
      } catch (error) {
        return withheldEntry(entry, error)
      }
    },
    session(session) {
      try {
        return redactSession(session, text, (value) => json(value) as JsonObject)
      } catch (error) {
        return withheldSession(session, error)
      }
    },
    counts: () => new Map(counts),
  }
}

function redactSession(
  session: Session,
  text: (text: string) => string,
  object: (value: JsonObject) => JsonObject,
): Session {
  const { title, error, cwd, git, input, tags, metadata, reportedUsage } = session
  return {
    ...session,
    ...(title !== undefined && { title: text(title) }),
    ...(error !== undefined && { error: text(error) }),
    ...(cwd !== undefined && { cwd: text(cwd) }),
    ...(git !== undefined && {
      git: {
        ...git,
        ...(git.branch !== undefined && { branch: text(git.branch) }),
        ...(git.remote !== undefined && { remote: text(git.remote) }),
      },
    }),
    ...(input !== undefined && { input: object(input) }),
    // Every value of tags is a string, and stays one.
    ...(tags !== undefined && { tags: object(tags) as { readonly [key: string]: string } }),
    ...(metadata !== undefined && { metadata: object(metadata) }),
    ...(isObject(reportedUsage?.raw) && {
      reportedUsage: { ...reportedUsage, raw: object(reportedUsage.raw) },
    }),
  }
}

/** The envelope stays, so that order, usage and identity are not lost; everything that could hold content goes. */
function withheldEntry(entry: Entry, error: unknown): Entry {
  const { metadata: _metadata, usage, ...envelope } = entry
  const { raw: _raw, ...counts } = usage ?? { quality: 'unavailable' }
  return {
    ...envelope,
    blocks: [{ type: 'unknown', raw: null, reason: whyWithheld(error) }],
    ...(usage !== undefined && { usage: counts }),
  }
}

function withheldSession(session: Session, error: unknown): Session {
  const { title: _title, error: _error, cwd: _cwd, git: _git, input: _input, tags: _tags, ...rest } = session
  const { reportedUsage: _reportedUsage, ...envelope } = rest
  return { ...envelope, metadata: { hansard: { withheld: whyWithheld(error) } } }
}

/** Says what failed and nothing of what it failed on: an error's message may quote it. */
function whyWithheld(error: unknown): string {
  const known =
    error instanceof HansardError
      ? error.message
      : `the redactor failed (${error instanceof Error ? error.name : typeof error})`
  return `content withheld: ${known}`
}
