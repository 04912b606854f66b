/** `hansard export`: a session of the archive as one file, to keep or to give away. Written beside and put in its place when it is whole. */
import fs from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fromSystemError, HansardError, isHansardError, systemCode } from '../../errors.ts'
import type { ExportAs } from '../../server/export-session.ts'
import { catchUp } from '../../sources/sync.ts'
import { loadConfig } from '../config.ts'
import { note, out as print, outJson } from '../print.ts'
import { openSomehow, pageFolder } from './serve.ts'

export type ExportOptions = {
  readonly as?: ExportAs
  /** `-`: to standard output. */
  readonly out?: string
  readonly force?: boolean
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function exportCommand(id: string, options: ExportOptions): Promise<void> {
  const { as = 'html', out, force = false, json = false } = options
  const { home, utc, prices } = await loadConfig(options)
  const archive = openSomehow(home)
  await catchUpIfPossible(archive)
  const { createContext } = await import('../../server/app.ts')
  const { exportName, exportParts } = await import('../../server/export-session.ts')
  const { sessionById } = await import('../../server/session-at.ts')
  const webFolder = pageFolder()
  const context = createContext(archive, {
    ...(webFolder !== undefined && { webFolder }),
    ...(utc && { utc }),
    ...(prices && { prices }),
  })
  try {
    const at = await sessionById(id, context)
    const parts = await exportParts(as, at, context)
    if (out === '-') {
      for await (const part of parts) await print(part)
      return
    }
    const path = resolve(out ?? exportName(at.found.id, as))
    const bytes = await write(path, parts, force)
    if (json) await outJson({ path, bytes, as })
    else await print(`${path}\n`)
    if (!json && as === 'html')
      note('opens in any browser, also without a network; secrets that were known as such are taken out')
  } finally {
    context.close()
  }
}

/** What was recorded a moment ago is known as well, unless another process is at it. */
async function catchUpIfPossible(archive: Parameters<typeof catchUp>[0]): Promise<void> {
  try {
    if (!archive.readOnly) await catchUp(archive)
  } catch (error) {
    if (!isHansardError(error)) throw error
  }
}

async function write(path: string, parts: AsyncIterable<string>, force: boolean): Promise<number> {
  if (!force && fs.existsSync(path))
    throw new HansardError('output-exists', `${path} is there already`, { hint: 'replace it with --force' })
  const unfinished = `${path}.${process.pid}.part`
  let bytes = 0
  try {
    fs.mkdirSync(dirname(path), { recursive: true })
    const fd = fs.openSync(unfinished, 'wx', 0o600)
    try {
      for await (const part of parts) bytes += fs.writeSync(fd, part)
    } finally {
      fs.closeSync(fd)
    }
    fs.renameSync(unfinished, path)
  } catch (error) {
    fs.rmSync(unfinished, { force: true })
    throw systemCode(error) === undefined ? error : fromSystemError(error, path)
  }
  return bytes
}
