/**
 * Which session a version of a unit is of where its records do not say: the one that the version before says, in the same format, or where
 * none before does, the one after. A log of which the header is gone is no other session, also when it is back, and what had it before is
 * let go of.
 */
import type { ReadItem } from '../formats/format.ts'
import type { Session } from '../transcript/session.ts'
import { readSnapshot, type ToldVersion } from './versions.ts'

type Name = Pick<Session, 'id' | 'native'>
type Items = AsyncIterable<readonly ReadItem[]>

/** Versions from the oldest on. Others are looked at when one does not say whose it is, and once each. */
export function createVersionNames(
  told: readonly ToldVersion[],
  paths: readonly string[],
): (version: ToldVersion, items: Items) => Items {
  const said = new Map<ToldVersion, Promise<readonly Name[]>>()
  const namesIn = (version: ToldVersion): Promise<readonly Name[]> => {
    const known = said.get(version) ?? readNames(version, paths)
    said.set(version, known)
    return known
  }
  /** Of several sessions, nothing tells which. */
  const nameOf = async (version: ToldVersion): Promise<Name | undefined> => {
    const at = told.indexOf(version)
    for (const other of [...told.slice(0, at).toReversed(), ...told.slice(at + 1)]) {
      if (other.format.id !== version.format.id) continue
      const names = await namesIn(other)
      if (names.length > 0) return names.length === 1 ? names[0] : undefined
    }
    return undefined
  }
  return (version, items) => withNames(items, () => nameOf(version))
}

async function* withNames(
  items: Items,
  nameOf: () => Promise<Name | undefined>,
): AsyncGenerator<readonly ReadItem[]> {
  /** The first that is not named: were there a second, it would be another session. */
  let unnamed: { readonly id: string; readonly name: Name | undefined } | undefined
  for await (const batch of items) {
    for (const item of batch) {
      if (unnamed !== undefined || item.type !== 'session' || item.session.native !== undefined) continue
      unnamed = { id: item.session.id, name: await nameOf() }
    }
    const { id, name } = unnamed ?? {}
    yield name === undefined
      ? batch
      : batch.map((item) =>
          item.type === 'session' && item.session.id === id
            ? { type: 'session', session: { ...item.session, ...name } }
            : item,
        )
  }
}

/** The sessions that its records name, each once. */
async function readNames(version: ToldVersion, paths: readonly string[]): Promise<readonly Name[]> {
  const names = new Map<string, Name>()
  for await (const items of readSnapshot(version, paths, version.format, { isForFacts: true })) {
    for (const item of items) {
      if (item.type !== 'session') continue
      const { id, native } = item.session
      if (native !== undefined) names.set(id, { id, native })
    }
  }
  return [...names.values()]
}
