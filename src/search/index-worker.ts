/** A thread that writes one shard: batches of units in, what became of them out. */
import { parentPort } from 'node:worker_threads'
import { openArchive, type Archive } from '../archive/archive.ts'
import { isHansardError, messageOf, type ErrorCode } from '../errors.ts'
import { indexBatch, type Batch, type BatchResult } from './index-batch.ts'
import { redactorOf } from './searched-entry.ts'
import { isUnusable, openShard, type Shard } from './shard.ts'
import { createTurn } from './turns.ts'

export type ToIndexWorker =
  | { readonly open: { readonly home: string; readonly shard: number; readonly isBegun: boolean } }
  | { readonly batch: Batch }
  | { readonly close: true }
  /** Its turn has come. */
  | { readonly enter: true }
export type FromIndexWorker =
  | { readonly result: BatchResult }
  | { readonly failed: ShardFailure }
  | { readonly closed: true }
  /** It waits for its turn with a large entry, or is done with it. */
  | { readonly large: 'waits' | 'left' }

export type ShardFailure = {
  readonly message: string
  readonly code: ErrorCode
  /** The shard itself is at fault: moved aside, it can be built again. */
  readonly isUnusable: boolean
}

let shard: Promise<Shard> | undefined
let archive: Archive | undefined
let entered: () => void = () => {}

const turn = createTurn(
  () =>
    new Promise((resolve) => {
      entered = resolve
      post({ large: 'waits' })
    }),
  () => post({ large: 'left' }),
)

function post(message: FromIndexWorker): void {
  parentPort?.postMessage(message)
}

async function answer(message: ToIndexWorker): Promise<FromIndexWorker | undefined> {
  if ('open' in message) {
    archive = openArchive(message.open.home)
    shard = openShard(archive, message.open.shard, message.open)
    // It fails where it is first needed.
    shard.catch(() => {})
    return undefined
  }
  if ('enter' in message) {
    entered()
    return undefined
  }
  if ('close' in message) {
    await shard?.then(
      (opened) => opened.close(),
      () => {},
    )
    return { closed: true }
  }
  const redactor = redactorOf(archive as Archive)
  return { result: await indexBatch(await (shard as Promise<Shard>), message.batch, redactor, { turn }) }
}

parentPort?.on('message', (message: ToIndexWorker) => {
  void answer(message).then(
    (said) => said && post(said),
    (error: unknown) =>
      post({
        failed: {
          message: messageOf(error),
          code: isHansardError(error) ? error.code : 'io',
          isUnusable: isUnusable(error),
        },
      }),
  )
})
