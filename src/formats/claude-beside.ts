/** Files that stand beside a log of Claude's, each taken in whole as one block, or as the damage that keeps it from being read. */
import type { Block } from '../transcript/block.ts'
import type { Damage } from '../transcript/damage.ts'
import type { SourceFile } from '../transcript/source.ts'
import { readDocument, readText } from './document.ts'

export type Beside = { readonly block: Block; readonly byteLength: number } | { readonly damage: Damage }

/** JSON: what a subagent is, a checkpoint's metadata. */
export async function readDocumentBlock(file: SourceFile): Promise<Beside> {
  const { raw, bytes, damage } = await readDocument(file)
  return damage === undefined ? { block: { type: 'unknown', raw }, byteLength: bytes } : { damage }
}

/** Text: what a tool returned that was too long for a line. */
export async function readTextBlock(file: SourceFile): Promise<Beside> {
  const text = await readText(file)
  if (typeof text !== 'string') return { damage: text }
  return { block: { type: 'text', text }, byteLength: Buffer.byteLength(text) }
}

export const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
