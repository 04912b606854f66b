/** Some bytes of a file, which may have become something else since it was listed. */
import fs from 'node:fs/promises'
import { notRegular, readOnly } from './at-once.ts'

export type Part = { readonly byteOffset: number; readonly byteLength: number }

/** As many of the bytes as there are. Throws for what is no regular file: opening a pipe would wait for ever. */
export async function readPart(path: string, { byteOffset, byteLength }: Part): Promise<Buffer> {
  const handle = await fs.open(path, readOnly(true))
  try {
    if (!(await handle.stat()).isFile()) throw notRegular(path)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(byteLength), 0, byteLength, byteOffset)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
