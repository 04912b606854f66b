/** The process that works behind a server: see behind.ts. It ends with the server. */
import { openArchive, type Archive } from '../archive/archive.ts'
import { isHansardError, messageOf } from '../errors.ts'
import { doWork } from './behind-work.ts'
import type { FromBehind, ToBehind } from './behind.ts'

const stops = new Map<number, AbortController>()
let archive: Archive | undefined
const post = (said: FromBehind): void => void process.send?.(said)

process.on('disconnect', () => process.exit())
// Ctrl-C goes to all that run in a terminal; the server says when this ends.
process.on('SIGINT', () => {})
process.on('message', (said: ToBehind) => {
  const { number } = said
  if ('stop' in said) return stops.get(number)?.abort()
  const stop = new AbortController()
  stops.set(number, stop)
  const { signal } = stop
  const onProgress = (progress: Extract<FromBehind, { progress: unknown }>['progress']): void =>
    post({ number, progress })
  archive ??= openArchive(said.home, { write: true })
  return void doWork(archive, said.work, { signal, onProgress })
    .then(
      (done) => post({ number, done }),
      (error: unknown) => post({ number, failed: failedBy(error) }),
    )
    .finally(() => stops.delete(number))
})

function failedBy(error: unknown): Extract<FromBehind, { failed: unknown }>['failed'] {
  if (!isHansardError(error)) return { code: undefined, message: messageOf(error) }
  const { code, message, hint } = error
  return { code, message, ...(hint !== undefined && { hint }) }
}
