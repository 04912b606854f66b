/**
 * Items of many MB, let go of: whoever asks for more is done with those before, and frames that wait would hold on to the list that they
 * were given while the next are read.
 */
import { isLongRecord } from '../transcript/long-records.ts'
import type { ReadItem } from './format.ts'
import type { Place } from './placing.ts'

/** Empties the lists of the same items where one of them has something long; others may have emptied theirs already. */
export function letGo(...lists: readonly (readonly ReadItem[])[]): void {
  if (!lists.some((list) => list.some(isLong))) return
  for (const list of lists) (list as ReadItem[]).length = 0
}

/** The same for what a format makes of records, one list at a time: emptied when more is asked for, where one of it has something long. */
export function* passing<T extends object>(list: T[]): Generator<readonly T[]> {
  yield list
  if (list.some((one) => 'place' in one && isLongRecord(one.place as Place))) list.length = 0
}

function isLong(item: ReadItem): boolean {
  return item.type === 'entry' && item.entry.origin !== undefined && isLongRecord(item.entry.origin)
}
