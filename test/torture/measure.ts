/** What the public path makes of a case's files: opened, detected, read, and each call billed once over all of them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { identify } from '../../src/sources/detect.ts'
import { allFormats } from '../../src/sources/formats.ts'
import { openSource } from '../../src/sources/open.ts'
import { readItems, readTranscripts } from '../../src/sources/read.ts'
import { bestRecording, createBilling, type Bill } from '../../src/transcript/billing.ts'
import { callKey, createCallFold } from '../../src/transcript/totals.ts'
import type { Transcript } from '../../src/transcript/transcript.ts'
import { COUNTS, addUsage, hasCounts, type Usage } from '../../src/transcript/usage.ts'
import type { Tally, TortureCase } from './case.ts'

export type Measured = {
  readonly tally: Tally
  /** Output by model. */
  readonly byModel: Readonly<Record<string, number>>
  /** By what was opened. */
  readonly formats: readonly string[]
  readonly transcripts: readonly Transcript[]
}

export async function measure({
  files,
  open = ['.'],
}: Pick<TortureCase, 'files' | 'open'>): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'hansard-torture-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const formats: string[] = []
    const transcripts: Transcript[] = []
    for (const path of open) {
      const source = await openSource(join(folder, path))
      const { format } = await identify(source, { formats: allFormats })
      formats.push(format.id)
      transcripts.push(...(await readTranscripts(readItems(source, format))).transcripts)
    }
    const bills = bill(transcripts)
    return { tally: toTally(bills), byModel: outputByModel(bills), formats, transcripts }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Every call billed once over all sessions. Recordings that share a native name are one session: their calls add up by name, and
 * what has no name is taken from the best recording alone.
 */
export function bill(transcripts: readonly Transcript[]): readonly Bill[] {
  const byName = new Map<string, Transcript[]>()
  for (const transcript of transcripts) {
    const { id, native } = transcript.session
    const name = native === undefined ? id : `${native.agent} ${native.sessionId}`
    byName.set(name, [...(byName.get(name) ?? []), transcript])
  }
  const billing = createBilling()
  for (const recordings of byName.values()) {
    const all = recordings.map((transcript, at) => ({ ...totalsOf(transcript), by: `${at}`, transcript }))
    const best = bestRecording(all)?.transcript
    for (const { session, entries } of recordings) {
      billing.session(session)
      for (const entry of entries)
        if (callKey(entry) !== undefined || entries === best?.entries) billing.add(session.id, entry)
    }
  }
  return billing.bills()
}

export function toTally(bills: readonly Bill[]): Tally {
  const [first, ...others] = bills.map(({ usage }) => usage)
  const sum = first === undefined ? undefined : others.reduce(addUsage, withoutRaw(first))
  if (sum === undefined) return { calls: 0, quality: 'unavailable' }
  const counts = COUNTS.filter((count) => sum[count] !== undefined).map((count) => [count, sum[count]])
  const calls = bills.filter(({ usage }) => hasCounts(usage)).length
  return { ...(Object.fromEntries(counts) as object), calls, quality: sum.quality }
}

function outputByModel(bills: readonly Bill[]): Readonly<Record<string, number>> {
  const outputs = new Map<string, number>()
  for (const { model = 'unknown', usage } of bills)
    outputs.set(model, (outputs.get(model) ?? 0) + (usage.output ?? 0))
  return Object.fromEntries(outputs)
}

function totalsOf({ entries }: Transcript): ReturnType<ReturnType<typeof createCallFold>['totals']> {
  const fold = createCallFold()
  for (const entry of entries) fold.add(entry)
  return fold.totals()
}

function withoutRaw(usage: Usage): Usage {
  const { raw: _, ...counts } = usage
  return counts
}
