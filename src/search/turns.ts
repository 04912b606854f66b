/** Large entries, one at a time over all threads: what one thread may hold of them, several may not. */
import { collect } from '../sources/one-at-a-time.ts'

export type Turn = {
  /** Comes back when nobody else is at a large entry. Asked any number of times until `leave`. */
  enter(): Promise<void>
  /** Nothing of it is held any more. */
  leave(): void
}

/** `ask`: comes back when it is our turn. `tell`: it is over. */
export function createTurn(ask: () => Promise<void>, tell: () => void): Turn {
  let entered: Promise<void> | undefined
  return {
    enter: () => (entered ??= ask()),
    leave() {
      if (entered === undefined) return
      entered = undefined
      collect()
      tell()
    },
  }
}

/** For a thread that is alone. */
export function ownTurn(): Turn {
  return createTurn(
    async () => {},
    () => {},
  )
}

/** Whose turn it is: gives what is called when it is over. */
export type Turns = () => Promise<() => void>

export function createTurns(): Turns {
  let last = Promise.resolve()
  return async () => {
    const before = last
    let over: () => void = () => {}
    last = new Promise((resolve) => (over = resolve))
    await before
    return over
  }
}
