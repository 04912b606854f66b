/** Where the scripts of threads and of processes lie, and how those that nobody waits for run. */
import fs from 'node:fs'
import os from 'node:os'

/**
 * `beside`: the asking module's own address. Beside it in the package, one folder up in the command line's bundle; not there when run
 * from the sources.
 */
export function workerScript(name: string, beside: string): URL | undefined {
  const places = [new URL(`./${name}.js`, beside), new URL(`../${name}.js`, beside)]
  return places.find((place) => fs.existsSync(place))
}

/** Behind whatever somebody waits for. */
const NICE = 5

export function runBehind(pid: number): void {
  try {
    os.setPriority(pid, NICE)
  } catch {
    // It is done as soon as anything else.
  }
}
