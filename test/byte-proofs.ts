/** Promises about bytes, tried at every one of them. Each gives its counts and what broke the promise. */
import { readBack, sampleRecords, toLines } from './journal-samples.ts'

export type Proof = {
  readonly name: string
  readonly tried: number
  readonly counts: Readonly<Record<string, number>>
  /** What broke the promise, at most a few of them, in words. */
  readonly broken: readonly string[]
}

/** A file cut anywhere holds exactly the lines that are whole before the cut, and at most one damage. */
export function proveTruncation(entries: number): Proof {
  const lines = toLines(sampleRecords(entries))
  const bytes = Buffer.concat(lines)
  const broken: string[] = []
  let torn = 0
  for (let size = 0; size <= bytes.length; size += 1) {
    const { seqs, damage } = readBack(bytes.subarray(0, size))
    const whole = wholeLines(lines, size)
    torn += damage.length
    if (seqs.length !== whole || seqs.some((seq, at) => seq !== at))
      broken.push(`cut at ${size}: ${seqs.length} lines read, ${whole} are whole`)
    if (damage.length > 1) broken.push(`cut at ${size}: ${damage.length} damages`)
  }
  return {
    name: 'truncation at every byte',
    tried: bytes.length + 1,
    counts: { torn, lost: 0 },
    broken: few(broken),
  }
}

/** A line that lacks only its newline is whole: nothing of the record is missing. */
function wholeLines(lines: readonly Buffer[], size: number): number {
  let whole = 0
  for (let end = 0; whole < lines.length; whole += 1) {
    end += (lines[whole] as Buffer).length
    if (size < end - 1) break
  }
  return whole
}

/** Every flipped bit is reported, once, and costs at most the one record it is in. */
export function proveBitFlips(entries: number): Proof {
  const lines = toLines(sampleRecords(entries))
  const bytes = Buffer.concat(lines)
  const broken: string[] = []
  let undetected = 0
  let lost = 0
  /** Where the newlines are: a flip of one costs no record at all. */
  const ends = new Set<number>()
  let length = 0
  for (const line of lines) {
    length += line.length
    ends.add(length - 1)
  }
  for (let at = 0; at < bytes.length; at += 1) {
    const original = bytes[at] as number
    for (let bit = 0; bit < 8; bit += 1) {
      bytes[at] = original ^ (1 << bit)
      const { seqs, damage } = readBack(bytes)
      const missing = lines.length - seqs.length
      lost += missing
      if (damage.length === 0) {
        undetected += 1
        broken.push(`byte ${at} bit ${bit}: not detected`)
      }
      if (damage.length > 1) broken.push(`byte ${at} bit ${bit}: ${damage.length} damages`)
      if (missing > (ends.has(at) ? 0 : 1)) broken.push(`byte ${at} bit ${bit}: ${missing} records lost`)
      if (seqs.some((seq, index) => index > 0 && seq <= (seqs[index - 1] as number)))
        broken.push(`byte ${at} bit ${bit}: out of order`)
    }
    bytes[at] = original
  }
  const counts = { undetected, 'records lost': lost }
  return { name: 'every single bit flipped', tried: bytes.length * 8, counts, broken: few(broken) }
}

export function few(broken: readonly string[]): readonly string[] {
  return broken.length > 10 ? [...broken.slice(0, 10), `and ${broken.length - 10} more`] : broken
}
