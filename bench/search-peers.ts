/** What a search is put beside: ripgrep over the same files, from the npm registry, in a folder that is thrown away. */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './measure.ts'
import { TELL_PEAK, toldPeak } from './peak-memory.ts'

export type Searcher = { readonly name: string; readonly command: string; readonly args: readonly string[] }

/** ripgrep where it can be installed, or is there; else grep. Platform packages hold the program: no script is run. */
export function findSearcher(scratch: string): Searcher {
  writeFileSync(join(scratch, 'package.json'), '{"private":true}')
  const npm = ['install', '@vscode/ripgrep', '--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  spawnSync('npm', npm, { cwd: scratch, stdio: 'ignore', timeout: 120_000 })
  const program = process.platform === 'win32' ? 'rg.exe' : 'rg'
  const installed = ['ripgrep', `ripgrep-${process.platform}-${process.arch}`]
    .map((name) => join(scratch, 'node_modules/@vscode', name, 'bin', program))
    .find((path) => existsSync(path))
  for (const command of installed === undefined ? ['rg'] : [installed]) {
    const { stdout, status } = spawnSync(command, ['--version'], { encoding: 'utf8' })
    if (status === 0)
      return {
        name: stdout.split('\n')[0] ?? 'ripgrep',
        command,
        args: ['-F', '-c', '-i', '--no-messages', '-uu', '-e'],
      }
  }
  return { name: 'grep', command: 'grep', args: ['-r', '-F', '-c', '-i', '-e'] }
}

/** Milliseconds for one of the texts, at the median. */
export function timeSearcher({ command, args }: Searcher, texts: readonly string[], folder: string): number {
  const times: number[] = []
  for (let round = 0; round < 3; round += 1) {
    for (const text of texts) {
      const started = performance.now()
      spawnSync(command, [...args, text, folder], { stdio: 'ignore' })
      times.push(performance.now() - started)
    }
  }
  return median(times)
}

/** A program run as a process of its own, to its end: milliseconds, and the memory it took at most, in MB. */
export function timeProgram(
  script: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): { readonly ms: number; readonly mb: number } {
  const started = performance.now()
  // To a pipe, as those who run programs read them.
  spawnSync(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ms = performance.now() - started
  // Asked in a run that is not timed.
  const { stderr } = spawnSync(process.execPath, ['--import', TELL_PEAK, script, ...args], {
    env,
    encoding: 'utf8',
  })
  return { ms, mb: toldPeak(stderr).mb }
}
