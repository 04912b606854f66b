/** What the bundle holds in place of files that put code together. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeCutCode } from '../src/formats/claude-cut-made.ts'
import { BIN } from './program.ts'

it('is in the bundle as the bytes that are put together, and nothing there puts them together', () => {
  const bytes = Buffer.from(claudeCutCode()).toString('base64')
  const folder = dirname(BIN)
  const files = [folder, join(folder, 'chunks')].flatMap((at) =>
    fs.readdirSync(at).flatMap((name) => (name.endsWith('.js') ? [join(at, name)] : [])),
  )
  const texts = files.map((file) => fs.readFileSync(file, 'utf8'))
  // The threads that read have files of their own.
  expect(texts.filter((text) => text.includes(bytes))).toHaveLength(2)
  expect(texts.filter((text) => text.includes('codesOfShapes'))).toEqual([])
})
