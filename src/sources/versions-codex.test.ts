/** Rollouts that were cut and go on: Codex names calls by their place and counts by a running total, so what is lost has a say in both. */
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import * as rollout from '../../test/codex-lines.ts'
import { openArchive } from '../archive/archive.ts'
import { openKept, type KeptPlace } from '../archive/kept.ts'
import { codex } from '../formats/codex.ts'
import type { Json, JsonObject } from '../transcript/json.ts'
import { createCallFold } from '../transcript/totals.ts'
import { readVersions, versionsOf } from './versions.ts'

const { meta, turn, asked, said, counted } = rollout

/** 100 tokens in and 10 out, in two items; `before` it, as many calls are in the total. */
const call = (name: string, second: number, before: number): readonly JsonObject[] => [
  asked(name),
  said(`thinking of ${name}`, second),
  said(name, second + 1),
  counted([100 * (before + 1), 0, 10 * (before + 1), 0], [100, 0, 10, 0], second + 2),
]
const LINES = 4
const head = [meta(), turn('gpt-5.5')]
const calls = (from: number, to: number, name = 'call'): readonly JsonObject[] =>
  Array.from({ length: to - from }, (_, n) => call(`${name} ${from + n}`, 10 * (from + n), from + n)).flat()
const whole = [...head, ...calls(0, 6)]
const upTo = (call: number): readonly JsonObject[] => whole.slice(0, head.length + call * LINES)

/** One that says which thread it is, and one that does not. */
const PATHS = [`rollout-2026-02-10T10-00-00-${rollout.THREAD}.jsonl`, 'rollout-x.jsonl']
const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) fs.rmSync(folder, { recursive: true, force: true })
})

function setup(): KeptPlace {
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'versions-codex-'))
  folders.push(folder)
  return openKept(openArchive(join(folder, 'home'), { write: true })).place('codex', join(folder, 'source'))
}

/** What is known when each of these was the file, one after the other. */
async function totalsOver(path: string, ...versions: readonly (readonly Json[])[]): Promise<unknown> {
  const place = setup()
  for (const lines of versions)
    await place.keep(path, {
      async *chunks() {
        yield Buffer.from(rollout.text(...lines))
      },
    })
  const sessions = new Set<string>()
  const fold = createCallFold()
  for await (const items of readVersions(versionsOf(place, [path]), [path], codex)) {
    for (const item of items) {
      if (item.type === 'session') sessions.add(item.session.id)
      else if (item.type === 'entry') fold.add(item.entry)
    }
  }
  const { calls, uncounted, usage } = fold.totals()
  return {
    sessions: sessions.size,
    calls,
    ...(uncounted !== undefined && { uncounted }),
    input: usage?.input,
    output: usage?.output,
    quality: usage?.quality,
  }
}

const sums = (calls: number): object => ({
  sessions: 1,
  calls,
  input: 100 * calls,
  output: 10 * calls,
  quality: 'reported',
})

describe('a rollout that was cut and goes on', () => {
  it('has the lost calls and the new ones, where the total goes on from what is left', async () => {
    for (const path of PATHS) {
      expect(await totalsOver(path, whole, [...upTo(2), ...calls(2, 4, 'again')])).toEqual(sums(8))
      // And once more: three calls had the third place.
      const [second, third] = [calls(2, 4, 'again'), calls(2, 5, 'once more')]
      expect(await totalsOver(path, whole, [...upTo(2), ...second], [...upTo(2), ...third])).toEqual(sums(11))
    }
  })

  it('has the lost calls once, where the total goes on as if nothing had been lost', async () => {
    for (const path of PATHS)
      expect(await totalsOver(path, whole, [...upTo(2), ...calls(6, 8)])).toEqual(sums(8))
  })

  it('counts what no version has with the call behind it', async () => {
    const [path] = PATHS as [string]
    expect(await totalsOver(path, whole, [...upTo(2), ...calls(7, 8)])).toMatchObject({
      calls: 7,
      input: 1200,
    })
  })

  it('has each call once wherever its beginning was cut off, whether or not it goes on', async () => {
    for (const path of PATHS) {
      for (let left = 1; left <= head.length + LINES; left += 1) {
        const end = whole.slice(left)
        expect([left, await totalsOver(path, whole, end)]).toEqual([left, sums(6)])
        expect([left, await totalsOver(path, whole, [...end, ...calls(6, 8)])]).toEqual([left, sums(8)])
      }
    }
  })

  it('has each answer once that is the same as others, without times and counts', async () => {
    const [path] = PATHS as [string]
    const header = { id: rollout.THREAD, timestamp: rollout.at(0), instructions: null }
    const bare = (role: string, type: string, text: string): JsonObject => ({
      type: 'message',
      role,
      content: [{ type, text }],
    })
    const turns = (from: number, to: number): readonly JsonObject[] =>
      Array.from({ length: to - from }, (_, n) => [
        bare('user', 'input_text', `question ${from + n}`),
        bare('assistant', 'output_text', 'Done.'),
      ]).flat()
    // Of four that are the same, three are those that were there.
    const goesOn = [header, ...turns(0, 2), ...turns(7, 9)]
    expect(await totalsOver(path, [header, ...turns(0, 3)], goesOn)).toMatchObject({ uncounted: 4 })
    expect(await totalsOver(path, [header, ...turns(0, 3)], turns(1, 3))).toMatchObject({ uncounted: 3 })
  })

  it('has a call once whose count was written again, and is left without what it counted', async () => {
    const again = counted([600, 0, 60, 0], [100, 0, 10, 0], 70)
    for (const path of PATHS)
      expect(await totalsOver(path, [...whole, again], [again, ...calls(6, 8)])).toEqual(sums(8))
  })
})
