import { expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { memoryFileSource } from '../../test/memory-files.ts'
import type { Format } from '../formats/format.ts'
import { generic } from '../formats/generic.ts'
import { opencode } from '../formats/opencode.ts'
import type { SourceFile } from '../transcript/source.ts'
import { createUnitReading } from './unit-facts.ts'
import { readSnapshot } from './versions.ts'

const MB = 1024 * 1024

/** 3 MB of JSON each, and twice as much as a text. */
const MESSAGES = 3
const SAID = JSON.stringify(`${'all that was said before '.repeat((3 * MB) / 25)}😀`)

const listOf = (toElement: (n: number) => string, begin = '[', end = ']'): string =>
  begin + Array.from({ length: MESSAGES }, (_, n) => toElement(n)).join(',\n') + end

const sent = (n: number): string =>
  `{"role":"${n % 2 === 0 ? 'user' : 'assistant'}","content":[{"type":"text","text":${SAID}}],"ts":${n}}`
const message = (n: number): string =>
  `{"info":{"id":"msg_${n}","sessionID":"ses_1","role":"user"},"parts":[{"id":"prt_${n}","type":"text","text":${SAID}}]}`

const EXPORT = '{"info":{"id":"ses_1"},"messages":['
const CUT = ',{"id":"x'

/** In MB: the most that is held in V8's heap while more of the file is asked for. */
async function mostHeld(format: Format, name: string, content: string) {
  const held = (): number => heldBytes() / MB
  const source = memoryFileSource(name, content, { chunkBytes: MB })
  const before = held()
  let most = 0
  const measured = (file: SourceFile): SourceFile => ({
    ...file,
    async *chunks(options) {
      for await (const chunk of file.chunks(options)) {
        most = Math.max(most, held() - before)
        yield chunk
      }
    },
  })
  const open = async () => ({
    ...source,
    list: async () => (await source.list()).map(measured),
    damage: () => [],
  })
  const reading = createUnitReading(() => {}, 'unit')
  for await (const items of readSnapshot({ versions: new Map(), open }, [name], format, {}))
    reading.add(items)
  const [facts] = reading.end().sessions
  return { most, entries: facts?.entries ?? 0 }
}

it.each([
  ['of a list', generic, 'a.json', listOf(sent)],
  ['of a list that is cut off', generic, 'a.json', listOf(sent, '[', CUT)],
  ["of OpenCode's export", opencode, 'export.json', listOf(message, EXPORT, ']}')],
  ["of OpenCode's export, cut off", opencode, 'export.json', listOf(message, EXPORT, CUT)],
] as const)('long messages %s are let go of before the next is read', async (_, format, name, content) => {
  const { most, entries } = await mostHeld(format, name, content)
  expect(entries).toBeGreaterThanOrEqual(MESSAGES)
  // One message would be 6 MB.
  expect(most).toBeLessThan(4)
})
