/** Other programs' settings: JSON as people write it, with comments and commas too many. Never throws for what is in the file. */
import fs from 'node:fs'
import { isObject, parseJson, type JsonObject } from '../transcript/json.ts'
import { toProblem, type OnProblem } from './walk.ts'

/** Settings files are small; what is not is something else. */
const MAX_BYTES = 4 * 1024 * 1024

/** Undefined where there is no such file; `damaged`, and a problem, for one that cannot be understood. */
export function readSettings(path: string, onProblem: OnProblem): JsonObject | 'damaged' | undefined {
  let text: string
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    if (stat === undefined) return undefined
    if (!stat.isFile() || stat.size > MAX_BYTES) {
      onProblem(path, { cause: 'settings', reason: stat.isFile() ? 'too large for settings' : 'not a file' })
      return 'damaged'
    }
    text = fs.readFileSync(path, 'utf8')
  } catch (error) {
    const problem = toProblem(error)
    if (problem === undefined) return undefined
    onProblem(path, problem)
    return 'damaged'
  }
  const plain = withoutComments(text.replace(/^\uFEFF/, ''))
  // An empty file says nothing, and agents take it so.
  const value = plain.trim() === '' ? {} : parseJson(plain)
  if (isObject(value)) return value
  onProblem(path, { cause: 'settings', reason: 'not a JSON object' })
  return 'damaged'
}

/** Comments become spaces; a comma before a closing bracket goes. One pass. */
export function withoutComments(text: string): string {
  const kept: string[] = []
  /** Where the last comma stands in `kept` with only spaces after it. */
  let comma = -1
  for (let at = 0; at < text.length;) {
    const character = text[at] as string
    const end = endOfSpan(text, at)
    const isComment = character === '/' && end > at + 1
    if (isComment) kept.push(' ')
    else {
      if ((character === '}' || character === ']') && comma !== -1) kept[comma] = ' '
      if (!/\s/.test(character)) comma = -1
      if (character === ',') comma = kept.length
      kept.push(text.slice(at, end))
    }
    at = end
  }
  return kept.join('')
}

/** A string or a comment that begins here, whole; else one character. */
function endOfSpan(text: string, at: number): number {
  if (text[at] === '"') {
    let end = at + 1
    while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
    return Math.min(end + 1, text.length)
  }
  if (text.startsWith('//', at)) {
    const end = text.indexOf('\n', at)
    return end === -1 ? text.length : end
  }
  if (text.startsWith('/*', at)) {
    const end = text.indexOf('*/', at + 2)
    return end === -1 ? text.length : end + 2
  }
  return at + 1
}
