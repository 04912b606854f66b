/** `hansard formats`: what can be read and written. */
import { journal } from '../../journal/format.ts'
import { allFormats } from '../../sources/formats.ts'
import { out, outJson } from '../print.ts'

export async function formats({ json }: { readonly json?: boolean }): Promise<void> {
  const rows = allFormats.map(({ id, title, write }) => ({
    id,
    title,
    read: true,
    write: write !== undefined,
    docs: id === journal.id ? 'docs/format.md' : `docs/formats/${id}.md`,
  }))
  if (json) return outJson({ formats: rows })
  const width = Math.max(...rows.map(({ id }) => id.length))
  for (const { id, title, write } of rows) {
    await out(`${id.padEnd(width)}  ${write ? 'read, written' : 'read         '}  ${title}\n`)
  }
}
