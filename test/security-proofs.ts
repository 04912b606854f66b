/**
 * Attacks that worked once, tried again with all their payloads. `npm run proof` prints a row for each, and security-proofs.test.ts runs
 * each as a test. To add one, export an `Attack` (attack.ts) from a file `attack-*.ts`, and name it in this list.
 */
import type { Attack } from './attack.ts'
import { addressesInExports, titlesOfCasts } from './attack-exports.ts'
import { invisibleCharacters } from './attack-terminal.ts'
import { few, type Proof } from './byte-proofs.ts'

export const ATTACKS: readonly Attack[] = [invisibleCharacters, titlesOfCasts, addressesInExports]

export async function proveAttack({ name, prove }: Attack): Promise<Proof> {
  const { tried, broken } = await prove()
  return { name, tried, counts: { broken: broken.length }, broken: few(broken) }
}
