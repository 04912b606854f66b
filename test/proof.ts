/**
 * `npm run proof [-- KILLS]`: the promises of the journal, of sync, of the index, of the proxy and of replay, tried at every byte, bit and call, and with real processes that are
 * killed; then every attack of security-proofs.ts. Prints a table of counts; exits 1 when one is broken.
 */
import { proveBitFlips, proveTruncation, type Proof } from './byte-proofs.ts'
import { proveFailures, provePowerCuts } from './fault-proofs.ts'
import { proveKills, proveWriters } from './kill-proofs.ts'
import { proveProxyKills } from './proxy-kills.ts'
import { proveProxyBytes, proveProxyFailures } from './proxy-proofs.ts'
import { proveReplay } from './replay-proofs.ts'
import { proveFullIndexDisk, proveIndexKills } from './search-proofs.ts'
import { ATTACKS, proveAttack } from './security-proofs.ts'
import { proveFullSyncDisk } from './sync-proofs.ts'
import { proveFullDisk, proveInjections, type Tried } from './system-proofs.ts'

const kills = Number(process.argv[2] ?? 10_000)
if (!Number.isSafeInteger(kills) || kills < 0) {
  console.error('usage: npm run proof -- [KILLS]')
  process.exit(2)
}

/** Of a name. */
const WIDTH = 40

const showsProgress = process.stderr.isTTY
const progress = (done: number): void => {
  if (showsProgress) process.stderr.write(`\r${done} of ${kills} killed `)
}

const STEPS: readonly (() => Promise<readonly Tried[]>)[] = [
  async () => [proveTruncation(200)],
  async () => [proveBitFlips(50)],
  async () => [await proveFailures()],
  async () => [await provePowerCuts(25)],
  proveInjections,
  async () => [await proveFullDisk()],
  async () => [await proveWriters(8, 500)],
  async () => [await proveFullSyncDisk()],
  async () => [await proveFullIndexDisk()],
  async () => [await proveIndexKills(Math.min(200, kills))],
  async () => [await proveProxyBytes(1000)],
  async () => [await proveProxyFailures(100)],
  async () => [await proveProxyKills(Math.min(500, kills))],
  async () => [await proveReplay(1000)],
  ...ATTACKS.map((attack) => async () => [await proveAttack(attack)]),
  async () => [await proveKills({ kills, progress })],
]

let failed = 0
for (const step of STEPS) {
  const started = performance.now()
  const tried = await step()
  if (showsProgress) process.stderr.write('\r')
  for (const proof of tried) print(proof, (performance.now() - started) / 1000 / tried.length)
}
console.log(failed === 0 ? '\nevery promise held' : `\n${failed} promises broken`)
process.exitCode = failed === 0 ? 0 : 1

function print(proof: Tried, seconds: number): void {
  if ('unavailable' in proof) {
    console.log(`${proof.name.padEnd(WIDTH)} not tried: ${proof.unavailable}`)
    return
  }
  console.log(`${proof.name.padEnd(WIDTH)} ${toRow(proof)} ${seconds.toFixed(1)} s`)
  if (proof.broken.length === 0) return
  failed += 1
  for (const problem of proof.broken) console.log(`    BROKEN  ${problem}`)
}

function toRow({ tried, counts }: Proof): string {
  const said = Object.entries(counts).map(([what, count]) => `${what} ${count.toLocaleString('en')}`)
  return `${tried.toLocaleString('en').padStart(9)}  ${said.join(', ')};`
}
