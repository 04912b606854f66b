/**
 * A recording changed in one place, in a copy of its archive: what was asked then says another tool, another argument or another order
 * than the client will, or two answers have changed places. The journal stays as it was: it has the entry that must be named.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asArray, asObject, asString, isObject, parseJson, type Json } from '../../src/transcript/json.ts'
import { TAPES } from '../../src/wire/tape.ts'

export const MUTATIONS = ['tool', 'argument', 'order of tools', 'order of answers'] as const
export type Mutation = (typeof MUTATIONS)[number]

/** A request or an answer as a line of the tape has it; changed in place. */
type Line = { [name: string]: Json }
type Call = { [name: string]: Json }

/** Texts of which the entry that is right has one; undefined where the recording has nothing to change so. */
export function mutate(archive: string, how: Mutation): readonly string[] | undefined {
  for (const id of readdirSync(join(archive, 'sessions'))) {
    const path = join(archive, 'sessions', id, TAPES)
    const lines = linesOf(path)
    const right = how === 'order of answers' ? swapAnswers(lines) : changeCall(lines, how)
    if (right === undefined) continue
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return right
  }
  return undefined
}

function linesOf(path: string): Line[] {
  try {
    return readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => {
        const value = parseJson(line)
        return isObject(value) ? [{ ...value }] : []
      })
  } catch {
    return []
  }
}

function changeCall(lines: readonly Line[], how: Mutation): readonly string[] | undefined {
  for (const line of lines) {
    const request = asObject(line['request'])
    const list = listWithCalls(request?.['body'])
    const [at = -1, next = -1] = list?.flatMap((one, index) => (isCall(one) ? [index] : [])) ?? []
    if (list === undefined || at === -1) continue
    const [first, second] = [list[at] as Call, list[next] as Call | undefined]
    if (how === 'order of tools') {
      if (second === undefined) continue
      ;[list[at], list[next]] = [second, first]
      return [idOf(first), idOf(second)]
    }
    if (how === 'tool') first['name'] = `${asString(first['name'])}s`
    else if (first['arguments'] !== undefined)
      first['arguments'] = JSON.stringify(changed(parseJson(asString(first['arguments']) ?? '')))
    else first['input'] = changed(first['input'])
    return [idOf(first)]
  }
  return undefined
}

/** The first value of it with a letter more. */
function changed(input: Json | undefined): Json {
  const [[name, value] = ['', ''], ...others] = Object.entries(asObject(input) ?? {})
  return Object.fromEntries([[name, `${asString(value) ?? ''}x`], ...others])
}

/** Of two calls that follow each other in a lane: the client gets the second answer first. */
function swapAnswers(lines: Line[]): readonly string[] | undefined {
  const lane = (line: Line): Json | undefined => asObject(line['request'])?.['lane']
  const answerTo = (line: Line): Line | undefined =>
    lines.find(({ call, status }) => call === line['call'] && status === 200)
  const asked = lines.filter((line) => lane(line) !== undefined)
  for (const [at, one] of asked.entries()) {
    const next = asked.slice(at + 1).find((line) => lane(line) === lane(one))
    const [first, second] = [answerTo(one), next && answerTo(next)]
    if (next === undefined || first === undefined || second === undefined) continue
    const calls = [first['call'] as string, second['call'] as string] as const
    ;[second['call'], first['call']] = calls
    // Where it stops there, the second is not asked for: its entry is the result of what the first called.
    const body = asObject(next['request'])?.['body']
    return [...calls, ...(listWithCalls(body) ?? []).filter(isCall).map((call) => idOf(call as Call))]
  }
  return undefined
}

/** The first list of a request that has calls of tools, as the APIs have them. */
function listWithCalls(value: Json | undefined): Json[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const items = asArray(value)
  if (items?.some(isCall) === true) return items as Json[]
  for (const one of items ?? Object.values(value)) {
    const found = listWithCalls(one)
    if (found !== undefined) return found
  }
  return undefined
}

function isCall(value: Json): boolean {
  const type = asObject(value)?.['type']
  return type === 'tool_use' || type === 'function_call'
}

function idOf(call: Call): string {
  return asString(call['call_id']) ?? asString(call['id']) ?? ''
}
