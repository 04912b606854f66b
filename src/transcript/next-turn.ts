/**
 * A turn of the event loop. Work on many small files is one long chain of answers that are there at once; what SQLite's driver took for
 * its own answers, about 1 KB each, it gives back only between two turns.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
