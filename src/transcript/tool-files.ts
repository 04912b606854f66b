/** What tools do to files, told by what they are called and what they were given: all that agents of thirty makes have in common. */
import type { Entry } from './entry.ts'
import { ownCopy } from './held-text.ts'
import { isObject, type Json } from './json.ts'

/** `looked`: it names a file, or a folder, without opening it, or nobody knows what for. */
export const WAYS = ['read', 'edited', 'written', 'looked'] as const
export type Way = (typeof WAYS)[number]

const FILE_KEY =
  /^(?:(?:absolute|relative|target|source|old|new|notebook|file)_?)*(?:path|paths|file|files|filename)$/iu
const PATCHED = /^\*\*\* (?:Add|Update|Delete) File: (.{1,1000})$/gmu
const DEEPEST = 4

/** The files that an entry's tool calls name: arguments called a path or a file, and the files of a patch. */
export function filesOf({ blocks }: Entry): string[] {
  const files: string[] = []
  for (const block of blocks) if (block.type === 'tool-call') addFiles(files, block.input, false, DEEPEST)
  return files.length > 1 ? [...new Set(files)] : files
}

/** Those that one call's arguments name, each once. */
export function filesIn(input: Json | undefined): readonly string[] {
  const files: string[] = []
  addFiles(files, input, false, DEEPEST)
  return files.length > 1 ? [...new Set(files)] : files
}

function addFiles(files: string[], value: Json | undefined, isNamed: boolean, depth: number): void {
  if (typeof value === 'string') {
    if (isNamed && value !== '') files.push(value)
    else if (value.includes('*** '))
      for (const [, file] of value.matchAll(PATCHED)) if (file) files.push(ownCopy(file.trim()))
  } else if (depth === 0) return
  else if (Array.isArray(value)) for (const one of value) addFiles(files, one, isNamed, depth - 1)
  else if (isObject(value)) {
    for (const key in value)
      if (Object.hasOwn(value, key)) addFiles(files, value[key], key.length < 64 && isFileKey(key), depth - 1)
  }
}

/** Keys are few and come again and again: asked once each. A hostile file may have any number. */
const keys = new Map<string, boolean>()
const MOST_KEYS = 5000

function isFileKey(key: string): boolean {
  const known = keys.get(key)
  if (known !== undefined) return known
  const is = FILE_KEY.test(key)
  if (keys.size < MOST_KEYS) keys.set(key, is)
  return is
}

const EDITS = /edit|replace|patch|insert/
const WRITES = /write|create|save/
const READS =
  /^(?:read|view|open|cat)(?:_?(?:file|files|many_?files|text_?file|media_?file|notebook))?$|readfile|read_?file/
const COMMANDS: ReadonlyMap<string, Way> = new Map([
  ['view', 'read'],
  ['create', 'written'],
  ['str_replace', 'edited'],
  ['insert', 'edited'],
  ['undo_edit', 'edited'],
])

/** By the words in the tool's name: `Read`, `read_file`, `mcp__fs__edit_file`; of a tool that does several things, by its `command`. */
export function wayOf(tool: string, input: Json | undefined): Way {
  const command = isObject(input) ? input['command'] : undefined
  const asked = typeof command === 'string' && command.length < 16 ? COMMANDS.get(command) : undefined
  return asked ?? wayOfName(tool)
}

const ways = new Map<string, Way>()

function wayOfName(tool: string): Way {
  const known = ways.get(tool)
  if (known !== undefined) return known
  const name = tool
    .slice(tool.lastIndexOf('__') + 1)
    .toLowerCase()
    .replace(/^_/, '')
    .slice(0, 100)
  const isPlan = name.startsWith('todo')
  const way: Way = isPlan
    ? 'looked'
    : EDITS.test(name)
      ? 'edited'
      : WRITES.test(name)
        ? 'written'
        : READS.test(name)
          ? 'read'
          : 'looked'
  if (ways.size < MOST_KEYS && tool.length < 256) ways.set(tool, way)
  return way
}
