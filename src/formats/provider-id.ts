/** The id that a provider gave an answer, as far as it tells calls apart: some local servers count, or draw one of a thousand. */
import { asId } from './placing.ts'

const COUNTED = /^[a-z]*[-_]?\d{0,6}$/i

export function asProviderId(value: unknown): string | undefined {
  const id = asId(value)
  return id === undefined || COUNTED.test(id) ? undefined : id
}
