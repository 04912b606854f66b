/** A file that a tool read, as code in its language, the numbers of its lines apart from them. */
import { Code } from '../../text/code.tsx'
import { languageOf } from '../../text/highlight.ts'

/** Longer ones are shown as a terminal would: see output.tsx. */
const LONGEST = 30_000
/** `12→text`, `12<tab>text`: how tools number lines. */
const NUMBERED = /^ {0,10}(\d{1,9})(?:→|\t)(.*)$/

export type FileTextProps = { readonly file: string; readonly text: string }

export const isFileText = ({ file, text }: FileTextProps): boolean =>
  text !== '' && text.length <= LONGEST && !text.includes('\u001b') && languageOf(file) !== undefined

export function FileText({ file, text }: FileTextProps) {
  const { code, numbers } = apart(text)
  return <Code text={code} lang={languageOf(file) ?? ''} {...(numbers !== undefined && { numbers })} />
}

/** What stands after the last number is no part of the file, and stays where it is. */
export function apart(text: string): { readonly code: string; readonly numbers?: string } {
  const lines = text.split('\n').map((line) => ({ line, found: NUMBERED.exec(line) }))
  if (lines[0]?.found === null) return { code: text }
  return {
    code: lines.map(({ line, found }) => found?.[2] ?? line).join('\n'),
    numbers: lines.map(({ found }) => found?.[1] ?? '').join('\n'),
  }
}
