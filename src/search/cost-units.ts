/** What there is to read on this machine for costs, found anew: the units of every known place, and what was recorded here. */
import fs from 'node:fs'
import { join } from 'node:path'
import type { Archive } from '../archive/archive.ts'
import { CLAUDE_CODE } from '../formats/claude-code-write.ts'
import { unitOf as claudeUnitOf } from '../formats/claude-code-files.ts'
import { PLACED } from '../formats/places.ts'
import { JOURNAL } from '../journal/format-id.ts'
import { parseExclude } from '../sources/exclude.ts'
import { escapeGlob } from '../sources/globs.ts'
import { givenPaths } from '../sources/given.ts'
import { findPlaces, type FoundPlace } from '../sources/places.ts'
import { joinPlaces } from '../sources/sync-look.ts'
import { IMPORT } from '../sources/unit-place.ts'
import { walk } from '../sources/walk.ts'
import type { SourceFile } from '../transcript/source.ts'

export type CostUnit = {
  readonly agent: string
  readonly root: string
  /** What it is called, relative to the root. */
  readonly unit: string
  /** Its files, relative to the root. */
  readonly paths: string[]
  bytes: number
}

export type Machine = {
  readonly env: NodeJS.ProcessEnv
  readonly userHome: string
  readonly platform: NodeJS.Platform
  readonly cwd: string
  /** Patterns of what is not looked at. */
  readonly exclude: readonly string[]
}

/** Sessions recorded here. */
export function recordedUnits({ home }: Archive): readonly CostUnit[] {
  const root = join(home, 'sessions')
  if (!fs.existsSync(root)) return []
  const units = new Map<string, CostUnit>()
  for (const { path, size } of walk(root, { files: ['*/journal-*.jsonl'] })) {
    const [unit = ''] = path.split('/')
    addFile(units, { agent: JOURNAL, root }, unit, path, size)
  }
  return [...units.values()]
}

export type UnitFinder = {
  /** Units of places that were not looked into before: those of the machine, and what programs leave in these folders. */
  find(folders: readonly string[]): Promise<readonly CostUnit[]>
}

/** `own`: files that this program wrote itself, absolute. */
export function createUnitFinder(archive: Archive, machine: Machine, own: ReadonlySet<string>): UnitFinder {
  const { env, userHome: home, platform } = machine
  const exclude = parseExclude([...machine.exclude, escapeGlob(realPath(archive.home))], { home, platform })
  const looked = new Set<string>()
  let isGivenAdded = false
  return {
    async find(folders) {
      const places = [...findPlaces(PLACED, { env, home, platform, folders })]
      if (!isGivenAdded) places.push(...(await givenPlaces(archive, machine)))
      isGivenAdded = true
      const units = new Map<string, CostUnit>()
      for (const place of joinPlaces(places)) {
        const name = `${place.agent}\n${place.root}`
        if (looked.has(name)) continue
        looked.add(name)
        const sizes = new Map<string, number>()
        const unitOfFile = new Map<string, string>()
        for (const { path, absolute, size } of walk(place.root, { files: place.files, exclude })) {
          if (own.has(absolute)) continue
          sizes.set(path, size)
          unitOfFile.set(path, await unitOf(place, path))
        }
        for (const [path, unit] of await joined(place, unitOfFile))
          addFile(units, place, unit, path, sizes.get(path) ?? 0)
      }
      return [...units.values()]
    },
  }
}

/** Paths that the user has named once are looked into with every sync. */
async function givenPlaces(archive: Archive, machine: Machine): Promise<readonly FoundPlace[]> {
  const given = givenPaths(archive).filter((path) => fs.existsSync(path))
  if (given.length === 0) return []
  // What a path holds is told by its content: by then every format is needed.
  const [{ placesOf }, { allFormats }] = await Promise.all([
    import('../sources/place-of.ts'),
    import('../sources/formats.ts'),
  ])
  const { env, userHome: home, platform } = machine
  const places: FoundPlace[] = []
  for (const path of given)
    places.push(...(await placesOf(path, allFormats, { env, home, platform, onProblem: () => {} })))
  return places
}

async function unitOf({ agent, root }: FoundPlace, path: string): Promise<string> {
  const file = fileAt(root, path)
  if (agent === CLAUDE_CODE) return claudeUnitOf(file)
  const { unitOf } = await import('../sources/unit-of.ts')
  return unitOf(agent, file)
}

/** As sync joins them: see `joinCheckpoints`. */
async function joined(
  { agent }: FoundPlace,
  units: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  return agent === IMPORT ? (await import('../sources/checkpoint-units.ts')).withCheckpoints(units) : units
}

/** Opened only when it is asked for its bytes. */
function fileAt(root: string, path: string): SourceFile {
  const open = async (): Promise<SourceFile> => {
    const { openSource } = await import('../sources/open.ts')
    const [file] = await (await openSource(join(root, path))).list()
    return file as SourceFile
  }
  return {
    path,
    sizeBytes: 0,
    modifiedAt: '',
    head: async (bytes) => (await open()).head(bytes),
    bytes: async (limit) => (await open()).bytes(limit),
    async *chunks() {
      yield* (await open()).chunks()
    },
  }
}

function addFile(
  units: Map<string, CostUnit>,
  { agent, root }: Pick<FoundPlace, 'agent' | 'root'>,
  unit: string,
  path: string,
  size: number,
): void {
  const name = `${agent}\n${root}\n${unit}`
  const known = units.get(name)
  if (known === undefined) units.set(name, { agent, root, unit, paths: [path], bytes: size })
  else {
    known.paths.push(path)
    known.bytes += size
  }
}

function realPath(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch {
    return path
  }
}
