/**
 * Every way to record one agent, each in a fresh archive: what was billed is listed once, whatever saw it. A log may lack calls, and then
 * they are counted; it may never have more.
 */
import { asArray, asObject, asString, parseJson } from '../../src/transcript/json.ts'
import { createAgentWorld, readArchive, type AgentWorld, type Archive } from './agent-world.ts'
import type { Agent } from './agents.ts'
import type { Program } from './programs.ts'

export const WAYS = ['log', 'run', 'run, log', 'proxy', 'proxy, log', 'hooks', 'replay'] as const
export type Way = (typeof WAYS)[number]

export type Result = {
  /** `yes`, or how much of it. */
  readonly text: string
  readonly problems: readonly string[]
}
export type Row = {
  readonly agent: string
  readonly version: string
  readonly results: Partial<Record<Way, Result>>
  /** What doctor had not seen before. */
  readonly drift: readonly string[]
}

export async function tryAgent(agent: Agent, program: Program, folder: string): Promise<Row> {
  const results: Partial<Record<Way, Result>> = {}
  const drift = new Set<string>()
  const inWorld = async (way: Way, work: (world: AgentWorld) => Promise<void>): Promise<void> => {
    const world = await createAgentWorld(agent, program, folder)
    try {
      await work(world)
      for (const name of await driftIn(world)) drift.add(name)
    } catch (error) {
      results[way] = { text: 'no', problems: [String(error)] }
    } finally {
      await world.stopProvider()
    }
  }
  await inWorld('log', async (world) => {
    await ask(world)
    results.log = await afterSync(world, { isWhole: false })
  })
  await inWorld('run', async (world) => {
    await ask(world, { under: ['run', '--quiet'] })
    results.run = judge(await readArchive(world), world, { isWhole: true, isRecordingAlone: true })
    const [run] = (await readArchive(world)).sessions
    results['run, log'] = await afterSync(world, { isWhole: true })
    await world.stopProvider()
    const again = await world.agent({ under: ['replay', asString(run?.['id']) ?? '', '--verify'] })
    const { problems } = await afterSync(world, { isWhole: true, isReplayed: true })
    const said = again.code === 0 ? [] : [`verify ended with ${again.code}: ${lastLines(again.stderr)}`]
    results.replay = result([...said, ...problems])
  })
  await inWorld('proxy', async (world) => {
    await world.behindProxy((url) => ask(world, { url }))
    results.proxy = judge(await readArchive(world), world, { isWhole: true, isRecordingAlone: true })
    results['proxy, log'] = await afterSync(world, { isWhole: true })
  })
  if (agent.hasHooks === true)
    await inWorld('hooks', async (world) => {
      await must(world, 'hook', 'install', agent.name, '--yes')
      await ask(world)
      await hooksDone(world)
      results.hooks = judge(await readArchive(world), world, { isWhole: false })
    })
  return { agent: agent.name, version: program.version, results, drift: [...drift].sort() }
}

type Due = {
  /** All that was billed is there; else a log may lack some. */
  readonly isWhole: boolean
  /** No log was read: which command failed is the agent's to tell. */
  readonly isRecordingAlone?: boolean
  /** A replay is a session of its own, and on no bill. */
  readonly isReplayed?: boolean
}

function judge({ sessions, calls, sums }: Archive, world: AgentWorld, due: Due): Result {
  const ledger = world.billed()
  const extra = without(calls, ledger)
  const missing = without(ledger, calls)
  const told = sessions.filter(({ toolCalls }) => Number(toolCalls ?? 0) > 0)
  const tools = told.reduce((sum, { toolCalls }) => sum + Number(toolCalls ?? 0), 0)
  const failed = told.reduce((sum, { toolsFailed }) => sum + Number(toolsFailed ?? 0), 0)
  const isOnce = due.isReplayed !== true
  const problems = [
    ...(ledger.length === 0 ? ['the provider was not asked'] : []),
    ...(extra.length === 0 ? [] : [`not billed: ${extra.join('; ')}`]),
    ...(due.isWhole && missing.length > 0 ? [`not listed: ${missing.join('; ')}`] : []),
    ...(isOnce && told.length !== 1 ? [`${told.length} sessions with tool calls, not 1`] : []),
    ...(isOnce && tools !== 2 ? [`${tools} tool calls, not 2`] : []),
    ...(isOnce && due.isRecordingAlone !== true && failed !== 1 ? [`${failed} failed, not 1`] : []),
  ]
  if (missing.length === 0) return result(problems)
  const isSummed = calls.length === 0 && sums.some((sum) => sum === totalOf(ledger))
  return {
    ...result(problems, isSummed ? 'as a sum' : `${ledger.length - missing.length} of ${ledger.length}`),
  }
}

function result(problems: readonly string[], text = 'yes'): Result {
  return { text: problems.length === 0 ? text : 'no', problems }
}

async function ask(world: AgentWorld, options: Parameters<AgentWorld['agent']>[0] = {}): Promise<void> {
  const { code, stdout, stderr } = await world.agent(options)
  if (world.billed().length === 0)
    throw new Error(`it asked nobody and ended with ${code}: ${lastLines(stderr || stdout)}`)
}

async function afterSync(world: AgentWorld, due: Due): Promise<Result> {
  await must(world, 'sync')
  return judge(await readArchive(world), world, due)
}

async function must(world: AgentWorld, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await world.hansard(...args)
  if (code !== 0) throw new Error(`hansard ${args.join(' ')} ended with ${code}: ${lastLines(stderr)}`)
}

/** What hooks asked for is done. */
async function hooksDone(world: AgentWorld): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const status = asObject(parseJson((await world.hansard('hook', 'status', '--json')).stdout))
    const failed = asObject(asArray(status?.['failures'])?.[0])
    if (failed !== undefined) throw new Error(`a hook failed: ${asString(failed['problem']) ?? ''}`)
    if (status?.['waiting'] === 0 && status['atWork'] === false) return
    await new Promise((done) => setTimeout(done, 200))
  }
  throw new Error('what hooks asked for is not done')
}

async function driftIn(world: AgentWorld): Promise<readonly string[]> {
  const health = asObject(parseJson((await world.hansard('doctor', '--json')).stdout))
  return (asArray(health?.['drift']) ?? []).map((one) => {
    const { format, kind, name } = asObject(one) ?? {}
    return [format, kind, name].map((word) => asString(word) ?? '').join(' ')
  })
}

/** What is left of a list when another's members are taken out, each once. */
function without(all: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...all]
  for (const one of others) {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
  }
  return left
}

function totalOf(calls: readonly string[]): string {
  const numbers = calls.map((call) => (call.match(/\d+/g) ?? []).map(Number))
  const sum = (at: number): number => numbers.reduce((so, counts) => so + (counts[at] ?? 0), 0)
  return `${sum(0)} in, ${sum(1)} out`
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' / ').slice(-400)
}
