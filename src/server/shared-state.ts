/**
 * What sync knows, opened once for all requests. A state that another process has built anew in its place is opened instead; one
 * that is damaged is built again. Requests that are at work keep the one they began with.
 */
import fs from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Archive } from '../archive/archive.ts'
import type { Database } from '../sqlite/driver.ts'
import { isDamagedDatabase } from '../sqlite/errors.ts'
import { peekState, type State } from '../sources/state.ts'

export type SharedState = {
  /** Undefined where nothing was ever recorded or synced. */
  read<T>(work: (database: Database) => T | Promise<T>): Promise<T | undefined>
  /** Reads from now on wait until this is over, a few seconds at most. */
  waitFor(work: Promise<void>): void
  close(): void
}

const MOST_WAIT_MS = 5000

type Opened = { readonly state: State; readonly stamp: string; users: number; isOld: boolean }

export function openSharedState(archive: Archive): SharedState {
  let opened: Opened | undefined
  let opening: Promise<Opened | undefined> | undefined
  let before: Promise<unknown> = Promise.resolve()
  const path = join(archive.home, 'index', 'state.db')
  const stampOf = (): string => {
    const stat = fs.statSync(path, { throwIfNoEntry: false })
    return stat === undefined ? '' : `${stat.dev}:${stat.ino}`
  }
  const leave = (one: Opened): void => {
    one.users -= 1
    if (one.users === 0 && one.isOld) one.state.close()
  }
  const retire = (): void => {
    if (opened === undefined) return
    opened.isOld = true
    if (opened.users === 0) opened.state.close()
    opened = undefined
  }
  const open = async (): Promise<Opened | undefined> => {
    if (opened !== undefined && opened.stamp === stampOf()) return opened
    opening ??= (async () => {
      retire()
      const stamp = stampOf()
      const state = await peekState(archive)
      opened = state && { state, stamp, users: 0, isOld: false }
      return opened
    })().finally(() => (opening = undefined))
    return opening
  }
  const read = async <T>(work: (database: Database) => T | Promise<T>): Promise<T | undefined> => {
    const one = await open()
    if (one === undefined) return undefined
    one.users += 1
    try {
      return await work(one.state.database)
    } finally {
      leave(one)
    }
  }
  return {
    async read(work) {
      await before
      try {
        return await read(work)
      } catch (error) {
        if (!isDamagedDatabase(error)) throw error
        retire()
        const { rebuild } = await import('../sources/sync.ts')
        await rebuild(archive)
        return read(work)
      }
    },
    waitFor(work) {
      const patience = setTimeout(MOST_WAIT_MS, undefined, { ref: false })
      // What went wrong has been said by whoever did it.
      before = Promise.race([work, patience]).catch(() => {})
    },
    close: retire,
  }
}
