/**
 * Work that ends in time, whatever it is: regular expressions may take longer than the universe has, and V8 can be told to stop
 * one only from outside. The watch costs about a tenth of a millisecond, so many entries are matched within one.
 */
import { createContext, Script } from 'node:vm'
import { HansardError } from '../errors.ts'
import { isObject } from '../transcript/json.ts'

let isWatched = false
let context: { work?: () => unknown } | undefined
let script: Script | undefined
const stopped = new WeakSet<object>()

/** True for the error of work that was stopped: a fault of what was asked, not of what was read. */
export function isTooSlow(error: unknown): boolean {
  return typeof error === 'object' && error !== null && stopped.has(error)
}

/**
 * What `work` returns, or an error of ours when it takes longer. Within another call the outer limit holds. Work that was stopped
 * has stopped anywhere: what it was writing to is to be thrown away.
 */
export function withinTime<T>(milliseconds: number, work: () => T): T {
  if (isWatched) return work()
  context ??= createContext({})
  script ??= new Script('work()')
  let result: { readonly value: T } | undefined
  context.work = () => {
    result = { value: work() }
  }
  isWatched = true
  try {
    script.runInContext(context, { timeout: Math.max(1, Math.ceil(milliseconds)) })
  } catch (error) {
    // An error of another context is no instance of this one's Error.
    if (!isObject(error) || error['code'] !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    const tooSlow = new HansardError(
      'invalid-argument',
      `the pattern was not done after ${Math.ceil(milliseconds)} ms`,
      { hint: 'make it simpler: no repetition within a repetition, and a fixed text at its beginning' },
    )
    stopped.add(tooSlow)
    throw tooSlow
  } finally {
    isWatched = false
    delete context.work
  }
  if (result === undefined) throw new HansardError('io', 'the work ended without a result')
  return result.value
}
