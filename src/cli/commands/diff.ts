/** `hansard diff`: two sessions beside each other, by what was asked and done. Each is read once, and nothing but its steps is held. */
import fs from 'node:fs'
import { HansardError } from '../../errors.ts'
import { createSide, diffSessions, type Taken } from '../../replay/diff/diff.ts'
import { readBySession } from '../../sources/read.ts'
import { loadConfig } from '../config.ts'
import { createDamageLog, reportDamage, type DamageLog } from '../damage.ts'
import { printDiff } from '../diff-page.ts'
import { areFormats } from '../format-names.ts'
import { isPath, nameSome, openInput, surveyInput } from '../input.ts'
import { FAILED, outJson } from '../print.ts'

export type DiffOptions = {
  /** Every step that differs, with its words; else the first of them. */
  readonly full?: boolean
  /** devflow's comparison, turn by turn. */
  readonly turns?: boolean
  readonly exitCode?: boolean
  readonly format?: string
  readonly raw?: boolean
  readonly utc?: boolean
  readonly home?: string
  readonly json?: boolean
}

export async function diffCommand(a: string, b: string, options: DiffOptions): Promise<void> {
  if (!(await areFormats([options.format], options.json === true))) return
  const { home, utc } = await loadConfig(options)
  const damage = createDamageLog()
  const { format, ...others } = options
  // Beside a file, a session of the archive is what it is.
  const isBeside = [a, b].some((named) => isPath(split(named)[0]))
  const open = (named: string): Promise<Taken> => {
    const isMeant = format !== undefined && (isPath(split(named)[0]) || !isBeside)
    return take(named, { ...others, ...(isMeant && { format }), ...(home !== undefined && { home }) }, damage)
  }
  const difference = diffSessions(await open(a), await open(b))
  if (options.json) await outJson(difference)
  else await printDiff(difference, { ...options, utc: utc ?? false })
  reportDamage(damage)
  if (options.exitCode && !difference.isSame) process.exitCode = FAILED
}

/** `FILE#SESSION` where a file holds several. */
async function take(named: string, { format, home, raw }: DiffOptions, damage: DamageLog): Promise<Taken> {
  const [path, chosen] = split(named)
  const input = await openInput(path, {
    ...(format && { format }),
    ...(home && { home }),
    ...(raw && { raw: true }),
  })
  const { sessions, isInterleaved, damage: early } = await surveyInput(input, chosen)
  const [one] = sessions
  if (one === undefined || sessions.length > 1) {
    throw new HansardError('ambiguous-id', `${input.name} holds ${sessions.length} sessions`, {
      hint: `choose one by ${input.name}#<session>: ${nameSome(sessions)}`,
    })
  }
  for (const each of early) damage.add(each)
  const side = createSide()
  const ids = [one.session.id]
  for await (const { items } of readBySession(() => input.read(), ids, isInterleaved))
    for (const item of items) {
      if (item.type === 'entry') side.add(item.entry)
      else if (item.type === 'damage') damage.add(item.damage)
    }
  return side.end(one.session)
}

function split(named: string): readonly [path: string, session: string | undefined] {
  if (fs.existsSync(named)) return [named, undefined]
  const at = named.lastIndexOf('#')
  const path = named.slice(0, at)
  return at > 0 && fs.existsSync(path) ? [path, named.slice(at + 1)] : [named, undefined]
}
