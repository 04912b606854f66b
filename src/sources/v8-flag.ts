/**
 * A flag of V8's that is another one for some time, in all threads of the process. V8 takes nothing that it compiled under other flags:
 * as it usually is while files of the program are loaded, and when the process ends and keeps what it compiled.
 */
import v8 from 'node:v8'

export type V8Flag = {
  /** From now on; nothing where it is so already. */
  set(): void
  usual(): void
}

export function createFlag(name: string, value: number, usual: number): V8Flag {
  let isSet = false
  const reset = (): void => {
    if (!isSet) return
    isSet = false
    process.off('exit', reset)
    v8.setFlagsFromString(`--${name}=${usual}`)
  }
  return {
    set() {
      if (isSet) return
      isSet = true
      process.prependListener('exit', reset)
      v8.setFlagsFromString(`--${name}=${value}`)
    },
    usual: reset,
  }
}
