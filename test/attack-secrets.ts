/** Attacks on redaction: secrets of every kind, shown in every form, and answers that break off inside one. */
import { createRedactor } from '../src/redact/redactor.ts'
import { tryEach, type Attack } from './attack.ts'
import { fakeKeys } from './fake-keys.ts'
import { makeCorpus, measureCorpus } from './redaction/measure.ts'
import { brokenPromises } from './redaction/promises.ts'

export const shownSecrets: Attack = {
  name: 'redaction: secrets are found in every form',
  prove: async () => {
    const measured = measureCorpus(makeCorpus())
    return { tried: measured.values * measured.forms.length, broken: brokenPromises(measured) }
  },
}

export const cutSecrets: Attack = {
  name: 'redaction: a cut answer keeps no key',
  prove: () => {
    const redactor = createRedactor({ key: Buffer.alloc(32, 7) })
    const cuts = fakeKeys().flatMap(([, key]) => {
      const half = Math.ceil(key.length / 2)
      return Array.from({ length: key.length - half }, (_, n) => key.slice(0, half + n))
    })
    // The footer of a private key is no part of it.
    const bodies = cuts.filter((cut) => !cut.includes('\n-'))
    return tryEach(bodies, (cut) => {
      const text = redactor.cutText(`The key is ${cut}`)
      return text.includes(cut.slice(-4)) ? text : undefined
    })
  },
}
