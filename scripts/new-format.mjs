// `npm run new-format -- <id>`: the files of a new format, with a reader that already works, a test, a folder of fixtures and a page;
// and its lines in the lists of formats. What is there already is never written over. docs/formats/CONTRIBUTING.md says how to go on.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [id = '', option, folder] = process.argv.slice(2)
const root =
  option === '--root' && folder !== undefined
    ? resolve(folder)
    : resolve(dirname(fileURLToPath(import.meta.url)), '..')

if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(id) || id.length > 40)
  fail('give an id of small letters, digits and dashes: npm run new-format -- my-agent')

const name = id.replaceAll(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase())
const title = id
  .split('-')
  .map((word) => word[0].toUpperCase() + word.slice(1))
  .join(' ')
const INDEX = 'src/formats/index.ts'
const LOADERS = 'src/sources/load-format.ts'
const ABOUT = 'src/formats/about.ts'

const written = new Map([
  [`src/formats/${id}.ts`, reader()],
  [`src/formats/${id}.test.ts`, test()],
  [`test/fixtures/${id}/log.jsonl`, fixture()],
  [`docs/formats/${id}.md`, page()],
])
for (const path of written.keys()) if (existsSync(join(root, path))) fail(`${path} is there already`)
const index = readFileSync(join(root, INDEX), 'utf8')
const loaders = readFileSync(join(root, LOADERS), 'utf8')
const about = readFileSync(join(root, ABOUT), 'utf8')
if (loaders.includes(`['${id}',`)) fail(`${id} is a format already`)

written.set(
  INDEX,
  insert(
    insert(index, "import { raw } from './raw.ts'\n", `import { ${name} } from './${id}.ts'\n`),
    '  raw,\n',
    `  ${name},\n`,
  ),
)
written.set(
  LOADERS,
  insert(loaders, "  ['raw',", `  ['${id}', async () => (await import('../formats/${id}.ts')).${name}],\n`),
)
written.set(
  ABOUT,
  insert(
    about,
    "  ['raw', about(",
    `  ['${id}', about('which versions', 'which side, and of what', 'what it does not say')],\n`,
  ),
)
for (const [path, text] of written) {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}
console.log([...written.keys()].join('\n'))
console.log(
  `\nnow: npm run format-table, npx vitest run src/formats/${id}.test.ts, and docs/formats/CONTRIBUTING.md`,
)

/** Before the place that every list ends with. */
function insert(text, before, line) {
  const at = text.indexOf(before)
  if (at === -1) fail(`no place for ${id}: ${JSON.stringify(before)} is gone`)
  return text.slice(0, at) + line + text.slice(at)
}

function fail(message) {
  console.error(message)
  process.exit(2)
}

function reader() {
  return `/** ${title}'s logs, read: one JSON object on each line, each with who spoke and what was said. */
import { parseInstant } from '../transcript/instant.ts'
import { asString, isObject, type Json } from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { vocabulary } from './drift.ts'
import { fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { isInstant, isText, takes } from './left-over.ts'
import type { Said } from './placing.ts'
import { tellLines } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { inside, withUnsaid } from './unsaid.ts'

const ID = '${id}'

export const ${name} = fileFormat({
  id: ID,
  title: '${title}: *.jsonl',
  look: lookAtLog,
  vocabulary: vocabulary({ records: ['message: agent session role text time'] }),
  read: readLog,
})

/** By content, and by something that no other agent writes. */
function lookAtLog({ records }: Head): Detection | undefined {
  const own = records.filter((record) => record['agent'] === ID && 'role' in record).length
  if (own === 0 || own * 2 < records.length) return undefined
  return { confidence: 0.95, reason: \`\${own} lines that name their agent\` }
}

async function* readLog(file: SourceFile, { open, watch }: FileReading): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  yield* tellLines(file, telling, (value, place) => {
    if (isObject(value)) {
      watch?.record('message', value)
      const sessionId = asString(value['session'])
      if (sessionId !== undefined) telling.know({ sessionId })
    }
    telling.say(fromLine(value), place)
  })
}

/** The keys that an entry says in its own way; whatever else a line has goes into its metadata. */
const TAKEN = takes({
  agent: inside(ID),
  // What the session is told by.
  session: isText,
  role: inside('user assistant'),
  text: inside(''),
  time: isInstant,
})

function fromLine(value: Json): Said {
  const role = isObject(value) ? value['role'] : undefined
  if (!isObject(value) || (role !== 'user' && role !== 'assistant')) return unknownSaid(value)
  const text = asString(value['text'])
  const at = parseInstant(value['time'])
  const said: Said = {
    kind: 'message',
    role,
    ...(at !== undefined && { at }),
    blocks: text === undefined ? [] : [{ type: 'text', text }],
  }
  return withUnsaid(said, value, TAKEN)
}
`
}

/** Small, made up, and every kind of line once: never a real transcript. */
function fixture() {
  return [
    { agent: id, session: 's1', role: 'user', text: 'look', time: '2026-01-01T00:00:00Z' },
    { agent: id, session: 's1', role: 'assistant', text: 'I look.', mood: 'good' },
    { agent: id, session: 's1', role: 'tick' },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
}

function test() {
  return `import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { memoryFileSource, readAll } from '../../test/memory-files.ts'
import { ${name} } from './${id}.ts'

/** Whatever lies in this folder is also cut off, changed and blown up: test/every-format.test.ts. */
const LOG = readFileSync(new URL('../../test/fixtures/${id}/log.jsonl', import.meta.url), 'utf8')

describe('${title}', () => {
  it('is told by its content', async () => {
    expect(await ${name}.detect(memoryFileSource('unnamed', LOG))).toMatchObject({ confidence: 0.95 })
    expect(await ${name}.detect(memoryFileSource('unnamed', '{"role":"user"}\\n'))).toBeUndefined()
  })

  it('has an entry for each line, and keeps what it does not understand', async () => {
    const [told] = await readAll(${name}, memoryFileSource('log.jsonl', LOG))
    expect(told?.session.native).toEqual({ agent: '${id}', sessionId: 's1' })
    expect(told?.entries.map(({ role, kind }) => role ?? kind)).toEqual(['user', 'assistant', 'event'])
    expect(told?.entries[1]?.metadata).toEqual({ mood: 'good' })
  })
})
`
}

function page() {
  return `# ${id}

${title}, read: one JSON object on each line. Told by content. Seen: which versions, and whether by real files. They lie where: name the folders, on macOS, Linux and Windows.

## Records

| what | becomes |
|---|---|
| a line of \`user\` or \`assistant\` | a message |
| any other line | an event that holds it |

## Tokens

Which side the counters are on (is what was cached inside of the input?), whether they grow or are a call's own, what is not counted.

## Limits

Not written. What is lost or not known.
`
}
