/** Memory for bytes of many MB that goes back to the system when it is let go of. */

/** Up to 32 MB glibc may take memory from a heap of its own, of which nothing goes back while anything behind it is in use. */
const ALWAYS_GIVEN_BACK = 32 * 1024 * 1024 + 4096
/** Below this it is not worth telling V8 of more than there is. */
const LONG_BYTES = 8 * 1024 * 1024

/** At least so many bytes. What was never written to takes no memory. */
export function allocateLong(length: number): Buffer<ArrayBuffer> {
  return Buffer.allocUnsafeSlow(length > LONG_BYTES ? Math.max(length, ALWAYS_GIVEN_BACK) : length)
}
