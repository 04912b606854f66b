/**
 * Before each file of tests: properties are tried on the same values every time, so that a run of the suite says something about the
 * change and not about luck. `HANSARD_SEED=n` gives them others, and more of them; `npm run properties` tries one seed after another.
 */
import fc from 'fast-check'

const given = process.env['HANSARD_SEED']
const seed = Number(given ?? 20_261_118)
if (!Number.isSafeInteger(seed)) throw new TypeError('HANSARD_SEED is not a whole number')
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed, numRuns: given === undefined ? 40 : 100 })
