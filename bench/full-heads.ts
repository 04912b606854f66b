/**
 * Files that take long to tell, as people have them: heads full of short records, records of many shapes, documents of many short lines, a
 * zip of a hundred documents.
 */
import fs from 'node:fs'
import { parseJson, type JsonObject } from '../src/transcript/json.ts'
import { GROWN, withLongText } from './grown-samples.ts'
import { claudeRecord, writeDocument, writeZip, type DocumentKind } from './huge-files.ts'

/** Three times what is read of a file. */
const SIZE = 200_000

/** A log's records one after the other. */
export function writeShortRecords(path: string, text: string): void {
  fs.writeFileSync(path, text.repeat(Math.ceil(SIZE / text.length)))
}

/** A line for each value of a document. */
export function writeShortLines(path: string, kind: DocumentKind): void {
  writeDocument(path, kind, SIZE, 'whole')
  fs.writeFileSync(path, JSON.stringify(parseJson(fs.readFileSync(path, 'utf8')), undefined, 2))
}

/** What some lines of Claude Code's have and others have not. */
const SOMETIMES: readonly JsonObject[] = [
  { slug: 'a-b-c' },
  { gitBranch: 'main' },
  { entrypoint: 'cli' },
  { isMeta: true },
  { permissionMode: 'default' },
  { todos: [] },
]

/** No line has the fields of another near it. */
export function writeManyShapes(path: string): void {
  const lines = Array.from({ length: 400 }, (_, n) => {
    const record = JSON.parse(
      claudeRecord('11111111-1111-4111-8111-111111111111', n, 'I look.'),
    ) as JsonObject
    const more = SOMETIMES.filter((_, bit) => (n & (1 << bit)) !== 0)
    return `${JSON.stringify(Object.assign({}, ...more, record))}\n`
  })
  fs.writeFileSync(path, lines.join(''))
}

/** A sample of 14 KB in each. */
export async function writeInspectZip(path: string): Promise<void> {
  const sample = GROWN.find((one) => one.format === 'inspect' && one.path === '1_epoch_1.json')
  if (sample === undefined) throw new Error('no sample of Inspect')
  const names = Array.from({ length: 114 }, (_, n) => `samples/${n}_epoch_1.json`)
  const bytes = Buffer.from(JSON.stringify(withLongText(sample, 14_000).records, undefined, 2))
  await writeZip(path, names, bytes, bytes.length)
}
