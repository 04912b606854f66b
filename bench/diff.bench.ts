/** Two sessions of ten thousand entries compared by the built program, with one step changed and with all of them: time and memory. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionDiff } from '../src/replay/diff/diff.ts'
import type { Bench } from './bench.ts'
import { writeLongLog } from './long-session.ts'
import { atMost, type Result } from './measure.ts'
import { TELL_PEAK, toldPeak } from './peak-memory.ts'

const BIN = join(import.meta.dirname, '../bin/hansard.js')
const ENTRIES = 10_000
const MOST_MS = 2000
const MOST_MB = 300

export const bench: Bench = async () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-bench-diff-'))
  try {
    const at = (name: string): string => join(folder, `${name}.jsonl`)
    writeLongLog(at('one'), ENTRIES)
    const text = fs.readFileSync(at('one'), 'utf8')
    fs.writeFileSync(at('word'), text.replace(`"ls ${MIDDLE}"`, '"ls elsewhere"'))
    fs.writeFileSync(at('other'), text.replaceAll('the parser reads', 'a writer writes'))
    return [
      ...compared('one word', [at('one'), at('word')], ({ changes }) => changes.length === 1),
      ...compared('most of it', [at('one'), at('other')], ({ changes }) => changes.length > ENTRIES / 3),
    ]
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

/** The number of a call in the middle. */
const MIDDLE = 5002
const ROUNDS = 5

function compared(
  name: string,
  paths: readonly string[],
  isRight: (difference: SessionDiff) => boolean,
): readonly Result[] {
  const times: number[] = []
  let mb = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now()
    const ran = spawnSync(process.execPath, ['--import', TELL_PEAK, BIN, 'diff', ...paths, '--json'], {
      encoding: 'utf8',
      maxBuffer: 1e9,
    })
    times.push(performance.now() - began)
    if (ran.status !== 0 || !isRight(JSON.parse(ran.stdout) as SessionDiff))
      throw new Error(`not compared: ${ran.stderr}`)
    mb = Math.max(mb, toldPeak(ran.stderr).mb)
  }
  const median = times.sort((one, other) => one - other)[ROUNDS >> 1] ?? Infinity
  return [
    atMost(`diff of ${ENTRIES} entries, ${name}`, median, MOST_MS, `ms, the median of ${ROUNDS}`),
    atMost(`memory for it, ${name}`, mb, MOST_MB, 'MB'),
  ]
}
