/**
 * What cuts strings out of Claude Code's lines, as a module of WebAssembly: put together when it is first needed, which takes as long as
 * reading a short log does. Where the program is bundled its bytes stand in place of this file (`scripts/bundle.mjs`).
 */
import { codeOfCut } from '../transcript/cut-strings-code.ts'

const KEYS = [
  'content',
  'stdout',
  'stderr',
  'thinking',
  'signature',
  'data',
  'base64',
  'originalFile',
  'oldString',
  'newString',
  'toolUseResult',
  'result',
  'output',
]
/** In bytes: cutting a shorter one takes as long as reading it. */
const LONGEST = 256

export const claudeCutCode = (): Uint8Array => codeOfCut({ keys: KEYS, whole: 'input', longest: LONGEST })
