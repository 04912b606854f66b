/** The peer that costs are measured against: `ccusage` of npm, a Rust program, put in a folder that goes again. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'

export type Peer = {
  readonly version: string
  /** What it says of all days, and how long it took. */
  run(config: string): { readonly ms: number; readonly totals: PeerTotals }
}

export type PeerTotals = {
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens: number
  readonly cacheCreationTokens: number
  readonly totalCost: number
}

/** Undefined where it cannot be had: there is no registry, or no binary for this machine. */
export function installCcusage(folder: string): Peer | undefined {
  fs.mkdirSync(folder, { recursive: true })
  const bin = join(folder, 'node_modules/.bin/ccusage')
  const install = (version: string): boolean => {
    npm(folder, ['install', '--no-audit', '--no-fund', '--prefix', folder, `ccusage@${version}`])
    return spawnSync(bin, ['--version']).status === 0
  }
  // The newest may be out before its binary for this machine is: then the newest that has one.
  const binary = `@ccusage/ccusage-${process.platform}-${process.arch}`
  if (!install('latest') && !install(npm(folder, ['view', binary, 'version']).trim())) return undefined
  return {
    version: String(spawnSync(bin, ['--version']).stdout).trim(),
    run(config) {
      const began = performance.now()
      const ran = spawnSync(bin, ['daily', '--offline', '--json'], {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder, CLAUDE_CONFIG_DIR: config, TZ: 'UTC' },
        maxBuffer: 1e9,
      })
      const ms = performance.now() - began
      if (ran.status !== 0) throw new Error(`ccusage failed: ${String(ran.stderr)}`)
      return { ms, totals: (JSON.parse(String(ran.stdout)) as { totals: PeerTotals }).totals }
    },
  }
}

function npm(folder: string, args: readonly string[]): string {
  return String(spawnSync('npm', args, { cwd: folder }).stdout)
}
