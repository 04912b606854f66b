/**
 * What a process held at most, threads and all, and nobody else: Linux' `VmHWM`. `maxRSS` is not that, for a new process begins with
 * what the one that started it held. Where there is no `/proc`, `maxRSS` is what there is.
 */
import { readFileSync } from 'node:fs'

/** Of this process, so far; MB of 1,024 KB. */
export function peakMb(): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
  } catch {
    return process.resourceUsage().maxRSS / 1024
  }
}

/** For `--import`, on a command line or in `NODE_OPTIONS`: a program so started says on stderr, when it ends, what it took. */
export const TELL_PEAK = new URL(
  isCompiled() ? 'tell-peak.js' : '../dist/bench/tell-peak.js',
  import.meta.url,
).href

function isCompiled(): boolean {
  return import.meta.filename.endsWith('.js')
}

export type Told = {
  /** No number when it was not said: the program was killed. */
  readonly mb: number
  /** What all processors did for it, in ms. */
  readonly processorMs: number
}

export function toldPeak(stderr: string): Told {
  const said = [...stderr.matchAll(/peak=([\d.]+) MB, processor=([\d.]+) ms/g)].at(-1)
  return { mb: Number(said?.[1] ?? Number.NaN), processorMs: Number(said?.[2] ?? Number.NaN) }
}
