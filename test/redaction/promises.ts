/** What is promised of redaction, in numbers. */
import type { Measured } from './measure.ts'
import { percent } from './tables.ts'

const LEAST_VALUES = 350
const LEAST_CARRIERS = 200
const LEAST_FORMS = 30
/** Percent of all values as they are, and of those in each other form. */
const LEAST_PLAIN = 95
const LEAST_SHOWN = 98

/** In words; empty when all of them hold. */
export function brokenPromises({ values, carriers, plain, kinds, forms }: Measured): string[] {
  const broken: string[] = []
  const hold = (isTrue: boolean, promise: string): void => void (isTrue || broken.push(promise))
  hold(values >= LEAST_VALUES, `${values} values are fewer than ${LEAST_VALUES}`)
  hold(carriers >= LEAST_CARRIERS, `${carriers} vendors and carriers are fewer than ${LEAST_CARRIERS}`)
  hold(forms.length >= LEAST_FORMS, `${forms.length} forms are fewer than ${LEAST_FORMS}`)
  hold(percent(plain) >= LEAST_PLAIN, `${percent(plain).toFixed(1)} % of the values are found`)
  for (const kind of kinds)
    hold(percent(kind) >= LEAST_PLAIN, `${percent(kind).toFixed(1)} % of ${kind.name} are found`)
  for (const form of forms)
    if (form.isPromised)
      hold(percent(form) >= LEAST_SHOWN, `${percent(form).toFixed(1)} % are found as ${form.name}`)
  return broken
}
