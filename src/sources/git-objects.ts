/**
 * The objects of a repository, read through a git program that stays: one process for many files, not one for each. A second is
 * started only while the first is giving something else; one that nobody asks any more ends by itself.
 */
import { Socket } from 'node:net'
import { cannotStart, type Git, GitFailed, type GitProcess, SILENCE_MS } from './git-program.ts'

export type GitObjects = {
  /** The bytes of an object, as they come. Throws `GitFailed` for one that is missing or damaged, after what there is of it. */
  read(id: string): AsyncGenerator<Buffer>
}

/** An unwanted rest up to this size is read and thrown away; past it another process is cheaper. */
const DRAINED_BYTES = 1024 * 1024
const IDLE_MS = 500
const MAX_HEADER_BYTES = 4096
const MAX_STDERR = 4096

export function createGitObjects(git: Git): GitObjects {
  const idle: Batch[] = []
  return {
    async *read(id) {
      if (!/^[0-9a-f]{40,64}$/.test(id)) throw new GitFailed('no object id')
      const batch = idle.pop() ?? createBatch(git.start('cat-file', '--batch'))
      batch.wake()
      let rest = Infinity
      try {
        rest = await batch.ask(id)
        while (rest > 0) {
          const piece = await batch.take(rest)
          rest -= piece.length
          yield piece
        }
      } finally {
        const isAsleep = rest <= DRAINED_BYTES && (await batch.finish(rest))
        if (isAsleep) {
          idle.push(batch)
          batch.sleep(() => idle.splice(idle.indexOf(batch), 1))
        } else batch.end()
      }
    },
  }
}

type Batch = {
  /** How many bytes the object has. */
  ask(id: string): Promise<number>
  /** Some of the bytes to come, at most so many. */
  take(limit: number): Promise<Buffer>
  /** Passes over the rest of the object; false when the process cannot go on. */
  finish(rest: number): Promise<boolean>
  wake(): void
  sleep(ended: () => void): void
  end(): void
}

function createBatch(child: GitProcess): Batch {
  const pieces = child.stdout[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  let said = ''
  let failed: unknown
  let timer: NodeJS.Timeout | undefined
  const ended = new Promise<void>((done) => {
    child.once('error', (error) => {
      failed = error
      done()
    })
    child.once('close', () => done())
  })
  child.stderr.on('data', (piece: Buffer) => {
    if (said.length < MAX_STDERR) said += piece.toString('utf8')
  })

  const more = async (): Promise<Buffer> => {
    const silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS)
    try {
      const next = await pieces.next()
      if (next.done !== true && Buffer.isBuffer(next.value)) return next.value
    } catch (error) {
      failed ??= error
    } finally {
      clearTimeout(silence)
    }
    await ended
    if (failed !== undefined) throw cannotStart(failed)
    throw new GitFailed(said.split('\n')[0] || 'git ended inside an object')
  }
  const take = async (limit: number): Promise<Buffer> => {
    if (held.length === 0) held = await more()
    const piece = held.subarray(0, limit)
    held = held.subarray(piece.length)
    return piece
  }
  return {
    take,
    async ask(id) {
      child.stdin.write(`${id}\n`)
      while (!held.includes(0x0a)) {
        if (held.length > MAX_HEADER_BYTES) throw new GitFailed('git answers without an end')
        held = Buffer.concat([held, await more()])
      }
      const end = held.indexOf(0x0a)
      const header = held.toString('latin1', 0, end)
      held = held.subarray(end + 1)
      const size = Number(/^[0-9a-f]+ \w+ (\d+)$/.exec(header)?.[1] ?? Number.NaN)
      if (Number.isSafeInteger(size)) return size
      throw new GitFailed(`the object is not there (${header.slice(-40)})`)
    },
    async finish(rest) {
      try {
        // The object, and the newline behind it.
        for (let left = rest + 1; left > 0;) left -= (await take(left)).length
        return true
      } catch {
        return false
      }
    },
    wake() {
      clearTimeout(timer)
      hold(child, true)
    },
    sleep(ended) {
      hold(child, false)
      timer = setTimeout(() => {
        ended()
        child.kill('SIGKILL')
      }, IDLE_MS).unref()
    },
    end: () => void child.kill('SIGKILL'),
  }
}

/** A process that waits for questions must not keep this one from ending. */
function hold(child: GitProcess, isHeld: boolean): void {
  for (const one of [child, child.stdin, child.stdout, child.stderr]) {
    if (one !== child && !(one instanceof Socket)) continue
    if (isHeld) one.ref()
    else one.unref()
  }
}
