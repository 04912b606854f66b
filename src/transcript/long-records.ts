/** Which records are worth letting go of while the next are read: frames that wait hold on to what they have yielded. Pure. */

/** 1 MB. Shorter ones are not worth a thought: few of them are read at a time. */
const LONG_BYTES = 1024 * 1024

export function isLongRecord({ byteLength }: { readonly byteLength: number }): boolean {
  return byteLength > LONG_BYTES
}
