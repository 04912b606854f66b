/** Content of the archive by its hash, as it may leave: a picture of a kind that holds nothing that runs, or bytes without secrets. */
import type { AppContext } from './context.ts'
import { sniffImage } from './image-type.ts'

/** Text up to this size passes the redactor once more. */
const LARGEST_TEXT = 16 * 1024 * 1024

export type SafeBlob = { readonly bytes: Buffer; readonly image?: string }

/** `hash`: 64 hex digits, with or without `sha256:`. Undefined for what is not there. */
export async function safeBlob(
  hash: string,
  { archive, redactor }: Pick<AppContext, 'archive' | 'redactor'>,
): Promise<SafeBlob | undefined> {
  const digits = hash.replace(/^sha256:/, '')
  const bytes = /^[0-9a-f]{64}$/.test(digits) ? await archive.blobs.read(`sha256:${digits}`) : undefined
  if (bytes === undefined) return undefined
  const image = sniffImage(bytes)
  if (image !== undefined) return { bytes, image }
  const text = bytes.length > LARGEST_TEXT ? undefined : bytes.toString()
  if (text === undefined || text.includes('\ufffd')) return { bytes }
  const clean = redactor.text(text)
  return { bytes: clean === text ? bytes : Buffer.from(clean) }
}
