/** The answers in one log of Claude Code, from lines that are skimmed for what makes a call. */
import { SYNTHETIC } from '../formats/claude-lines.ts'
import { fromTimestamp } from '../formats/claude-time.ts'
import { OPEN_CALLS } from '../sources/unit-facts.ts'
import { heldId, heldName } from '../transcript/held-text.ts'
import { isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { isNamed } from '../transcript/totals.ts'
import { hasCounts, laterReport, withoutZeros, type Quality, type Usage } from '../transcript/usage.ts'
import { fromAnthropicUsage } from '../wire/anthropic-usage.ts'
import type { AnswerLines } from './cost-lines.ts'
import { AT } from './cost-skim.ts'
import { FOUND } from './skimmed-lines-code.ts'

const [OBJECT, TRUE, QUOTE, LIST] = [0x7b, 0x74, 0x22, 0x5b] as const
const ASSISTANT = Buffer.from('"assistant"')

/** A call, as its lines so far tell it. `path`: the log that they are in. */
export type Answer = { model: string; usage: Usage; at: string | undefined; readonly path: string }

type Answers = { readonly answers: Map<string, Answer>; readonly path: string }

/** False for a log that has to be read whole. */
export function scanLog(bytes: Buffer, lines: AnswerLines, { answers, path }: Answers): boolean {
  const { starts, ends } = lines
  const text = (field: number): string | undefined =>
    textAt(bytes, starts[field] as number, ends[field] as number)
  const first = (field: number): number | undefined => bytes[starts[field] as number]
  /** Where the last answer's own id stands; -1 for none yet. */
  let answered = -1
  let answeredEnd = -1
  let lastModel: { readonly name: string; readonly bytes: Buffer } | undefined
  /** Nearly every line names the model that the last one named. */
  const modelOf = (): string | undefined => {
    const from = (starts[AT.model] as number) + 1
    const to = (ends[AT.model] as number) - 1
    // A name that is no string has no quotes around it.
    const isText = from > 0 && bytes[from - 1] === QUOTE
    if (lastModel !== undefined && isText && isSame(bytes, from, to, lastModel.bytes)) return lastModel.name
    const said = text(AT.model)
    const name = said === undefined ? undefined : heldName(said)
    lastModel = name === undefined ? undefined : { name, bytes: Buffer.from(bytes.subarray(from, to)) }
    return name
  }
  const isAnswered = (parent: string): boolean => {
    const last = answered === -1 ? undefined : textAt(bytes, answered, answeredEnd)
    return last === undefined || last === parent
  }
  for (let at = 0; ; at = lines.end() + 1) {
    const found = lines.next(at)
    if (found === FOUND.none) return true
    if (found !== FOUND.line) return false
    const isPlain = isSame(bytes, starts[AT.type] as number, ends[AT.type] as number, ASSISTANT)
    const type = isPlain ? 'assistant' : text(AT.type)
    // These may hold a message of another.
    if (type === 'progress' || type === 'event') return false
    if (type === 'assistant' && first(AT.message) === OBJECT && isContent(first(AT.content))) {
      const model = modelOf()
      if (model === undefined) return false
      const usage =
        model === SYNTHETIC
          ? undefined
          : (lines.usage() ?? objectAt(bytes, starts[AT.usage] as number, ends[AT.usage] as number))
      const isError = first(AT.isApiErrorMessage) === TRUE
      // An error right below an answer says that its counts are not the last. The answer may be the last of another log.
      const parent = usage === undefined && isError ? text(AT.parentUuid) : undefined
      if (parent !== undefined && isAnswered(parent)) return false
      if (usage !== undefined) {
        answered = starts[AT.uuid] as number
        answeredEnd = ends[AT.uuid] as number
      }
      if (model !== SYNTHETIC) {
        // Whether an answer is nothing but an error is for the reader to say.
        if (isError) return false
        const said = text(AT.id)
        if (said === undefined || !isNamed(said)) return false
        const id = heldId(said)
        if (usage !== undefined && isSeveral(usage)) return false
        const quality = first(AT.stop_reason) === QUOTE ? 'reported' : 'partial'
        const report = usage === undefined ? UNCOUNTED : toReport(usage, quality)
        const known = answers.get(id)
        // Which log comes first is told by lines that are not looked at here, and so is what is waited for.
        if (known === undefined ? answers.size >= OPEN_CALLS : known.path !== path) return false
        const timestamp = text(AT.timestamp)
        const time = timestamp === undefined ? undefined : fromTimestamp(timestamp)
        if (known === undefined) answers.set(id, { model, usage: report, at: time, path })
        else {
          known.model = model
          known.usage = laterReport(known.usage, report)
          known.at ??= time
        }
      }
    }
  }
}

function isSame(bytes: Buffer, from: number, to: number, name: Buffer): boolean {
  if (to - from !== name.length) return false
  for (let at = 0; at < name.length; at += 1) if (bytes[from + at] !== name[at]) return false
  return true
}

const UNCOUNTED: Usage = { quality: 'unavailable' }

/** As `reportOf` has it of the entry that the reader makes of the line. */
function toReport(usage: JsonObject, quality: Quality): Usage {
  const report = withoutZeros(fromAnthropicUsage(usage, quality))
  return hasCounts(report) ? report : { ...report, quality: 'unavailable' }
}

const isContent = (first: number | undefined): boolean => first === QUOTE || first === LIST

/** Samplings of a call that are billed one by one. */
function isSeveral({ iterations }: JsonObject): boolean {
  return Array.isArray(iterations) && iterations.length > 1
}

function objectAt(bytes: Buffer, from: number, to: number): JsonObject | undefined {
  if (bytes[from] !== OBJECT) return undefined
  const value = parseJson(bytes.toString('utf8', from, to))
  return isObject(value) ? value : undefined
}

/** The string there; undefined for anything else. */
function textAt(bytes: Buffer, from: number, to: number): string | undefined {
  if (bytes[from] !== QUOTE) return undefined
  const text = bytes.toString('utf8', from + 1, to - 1)
  if (!text.includes('\\')) return text
  const value = parseJson(bytes.toString('utf8', from, to))
  return typeof value === 'string' ? value : undefined
}
