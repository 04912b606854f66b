/**
 * What a part of the program that is a file by itself does not have: in it, whatever is imported when it is needed is imported from
 * here instead (`scripts/bundle.mjs`). Asking for it fails, and is remembered, for some who ask can do without and go on.
 */
let wasAsked = false

export function later(): Promise<never> {
  wasAsked = true
  return Promise.reject(new Error('this is in another file of the program'))
}

export function wasAskedLater(): boolean {
  return wasAsked
}
