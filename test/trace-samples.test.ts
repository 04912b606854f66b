/** Samples of logs, messages, trajectories, traces and exports: told by their content among all formats, and their entries named alike each time. */
import { describe, expect, it } from 'vitest'
import { detect } from '../src/sources/detect.ts'
import { allFormats } from '../src/sources/formats.ts'
import { toJson } from '../src/transcript/json.ts'
import type { Sample } from './kept-samples.ts'
import { memoryFileSource, readAll } from './memory-files.ts'
import { AGENT_SAMPLES, MESSAGE_SAMPLES } from './message-samples.ts'
import { TRACE_SAMPLES, WIRE_SAMPLES } from './trace-samples.ts'

const textOf = ({ records, isLines }: Sample): string =>
  isLines
    ? (records as readonly unknown[]).map((record) => `${JSON.stringify(record)}\n`).join('')
    : JSON.stringify(records)

describe.each(
  [...TRACE_SAMPLES, ...WIRE_SAMPLES, ...AGENT_SAMPLES, ...MESSAGE_SAMPLES].map(
    (sample) => [sample.format, sample.title, sample] as const,
  ),
)('%s, %s', (id, _, sample) => {
  const format = allFormats.find((one) => one.id === id)

  it('is told by its content, on one line or on many', async () => {
    const named = async (text: string): Promise<string | undefined> =>
      (await detect(memoryFileSource('unnamed', text), { formats: allFormats }))?.format.id
    expect(await named(textOf(sample))).toBe(id)
    if (!sample.isLines) expect(await named(JSON.stringify(sample.records, undefined, 2))).toBe(id)
  })

  it('has ids of its own for each entry, and the same ones every time', async () => {
    if (format === undefined) throw new Error(`no format ${id}`)
    const read = async () => readAll(format, memoryFileSource(sample.path, textOf(sample)))
    const transcripts = await read()
    for (const { entries } of transcripts)
      expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length)
    expect(toJson(await read())).toBe(toJson(transcripts))
  })
})
