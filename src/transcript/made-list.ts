/**
 * A list whose elements are made whenever they are asked for, and not held: for whoever takes an array of what may be a million. What makes
 * another list of it, as `map`, holds that.
 */

/** `at`: makes an element, for any number from 0 to below `length`. */
export function madeList<T>(length: number, at: (index: number) => T): readonly T[] {
  function* each(): Generator<T, void, undefined> {
    for (let index = 0; index < length; index += 1) yield at(index)
  }
  const indexOf = (name: string | symbol): number | undefined => {
    if (typeof name === 'symbol') return undefined
    const index = Number(name)
    return Number.isInteger(index) && index >= 0 ? index : undefined
  }
  const list = new Proxy<readonly T[]>([], {
    get(target, name, receiver) {
      if (name === 'length') return length
      if (name === Symbol.iterator) return each
      const index = indexOf(name)
      if (index === undefined) return Reflect.get(target, name, receiver) as unknown
      return index < length ? at(index) : undefined
    },
    has(target, name) {
      const index = indexOf(name)
      return index === undefined ? Reflect.has(target, name) : index < length
    },
  })
  made.add(list)
  return list
}

const made = new WeakSet<readonly unknown[]>()

export function isMade(list: readonly unknown[]): boolean {
  return made.has(list)
}

/** `map`, which makes of a list whose elements are made another such. */
export function mapped<T, U>(list: readonly T[], to: (element: T) => U): readonly U[] {
  return isMade(list) ? madeList(list.length, (index) => to(list[index] as T)) : list.map((one) => to(one))
}
