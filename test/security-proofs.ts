/**
 * Attacks that worked once, tried again with all their payloads. `npm run proof` prints a row for each, and security-proofs.test.ts runs
 * each as a test. To add one, export an `Attack` (attack.ts) from a file `attack-*.ts`, and name it in this list.
 */
import type { Attack } from './attack.ts'
import { addressesInExports, titlesOfCasts } from './attack-exports.ts'
import {
  foldersOfTranscripts,
  pipesInRepositories,
  programsOfRepositories,
  repositoriesOfOthers,
} from './attack-git.ts'
import { cutSecrets, shownSecrets } from './attack-secrets.ts'
import { invisibleCharacters } from './attack-terminal.ts'
import { few, type Proof } from './byte-proofs.ts'

export const ATTACKS: readonly Attack[] = [
  invisibleCharacters,
  titlesOfCasts,
  addressesInExports,
  programsOfRepositories,
  repositoriesOfOthers,
  pipesInRepositories,
  foldersOfTranscripts,
  shownSecrets,
  cutSecrets,
]

export async function proveAttack({ name, prove }: Attack): Promise<Proof> {
  const { tried, broken } = await prove()
  return { name, tried, counts: { broken: broken.length }, broken: few(broken) }
}
