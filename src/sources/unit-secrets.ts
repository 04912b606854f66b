/** What is derived of a unit is searched, listed and served: what a program wrote of secrets is not in it. */
import { openArchive } from '../archive/archive.ts'
import { createOutlet, type Outlet } from './outlet.ts'
import type { Call, FactsPart, SessionFacts, UnitFacts } from './session-facts.ts'
import { safeWork } from './work-safe.ts'

export function withoutSecrets(facts: UnitFacts, home: string): UnitFacts {
  return { ...facts, ...withoutSecretsIn(facts, home) }
}

export function withoutSecretsIn(part: FactsPart, home: string): FactsPart {
  const outlet = outletOf(home)
  const sessions = part.sessions.map((one) => withoutSecretsOf(one, home))
  const mentions = part.mentions.map((one) => ({
    ...one,
    ...(one.title && { title: outlet.text(one.title) }),
  }))
  return { sessions, mentions }
}

function withoutSecretsOf(one: SessionFacts, home: string): SessionFacts {
  const outlet = outletOf(home)
  const { prompt, ...session } = outlet.session({ ...one.session, ...(one.prompt && { prompt: one.prompt }) })
  const work = safeWork(one.work, outlet.text, safeNames(home))
  return { ...one, session, work, ...(prompt !== undefined && { prompt }) }
}

const outlets = new Map<string, Outlet>()

function outletOf(home: string): Outlet {
  const outlet = outlets.get(home) ?? createOutlet(openArchive(home), false)
  outlets.set(home, outlet)
  return outlet
}

const names = new Map<string, string>()
const MOST_NAMES = 10_000

/** Names of tools, of which there are few. */
export function safeNames(home: string): (name: string) => string {
  return (name) => {
    const known = names.get(name)
    if (known !== undefined) return known
    const safe = outletOf(home).text(name)
    if (names.size < MOST_NAMES) names.set(name, safe)
    return safe
  }
}

/** Nearly all are called what they are: no copy is made of these. */
export function withNames(calls: readonly Call[], names: (name: string) => string): readonly Call[] {
  for (const { tools = [] } of calls)
    for (const tool of tools)
      if (names(tool) !== tool)
        return calls.map((call) => (call.tools ? { ...call, tools: call.tools.map(names) } : call))
  return calls
}
