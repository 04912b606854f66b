/** Conversion as a user runs it: every format into every other, twice, with an account of what did not fit. */
import fs from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { run, temporaryFolder } from './program.ts'

const FORMATS = ['devflow', 'weakincentives', 'leslie', 'entire', 'swarm', 'journal'] as const

type Report = {
  readonly written: readonly string[]
  readonly unchanged: readonly string[]
  readonly lost: readonly { readonly entry: string; readonly what: string }[]
  readonly filled: readonly { readonly entry: string; readonly field: string }[]
}

const folder = temporaryFolder()
const env = { HANSARD_HOME: join(folder, 'none') }
/** One recorded session in each format, as its own program would have left it. */
const inputs: Readonly<Record<(typeof FORMATS)[number], string>> = {
  devflow: join(folder, '.devflow'),
  weakincentives: join(folder, 'agent_transcripts'),
  leslie: join(folder, '.leslie'),
  entire: join(folder, '.entire'),
  swarm: join(folder, 'swarm'),
  journal: join(folder, 'archive'),
}

beforeAll(async () => {
  expect((await run(['demo', '--record', '--out', folder], { env })).code).toBe(0)
})

async function convert(input: string, to: string, out: string, ...flags: string[]): Promise<Report> {
  const ran = await run(['convert', input, '--to', to, '--out', out, '--json', ...flags], { env })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  return JSON.parse(ran.stdout)
}

function snapshot(below: string): readonly string[] {
  const names = fs.readdirSync(below, { recursive: true, encoding: 'utf8' }).sort()
  const files = names.filter((name) => fs.statSync(join(below, name)).isFile())
  return files.map((name) => `${name}: ${fs.readFileSync(join(below, name)).toString('base64')}`)
}

describe.each(FORMATS)('from %s', (from) => {
  it.concurrent.each(FORMATS)('to %s, and again without a change', async (to) => {
    const out = temporaryFolder()
    const first = await convert(inputs[from], to, out)
    expect(first.written.length).toBeGreaterThan(0)
    for (const path of first.written) expect(fs.existsSync(path), path).toBe(true)
    for (const { entry, what } of first.lost) expect(entry && what).toBeTruthy()
    for (const { entry, field } of first.filled) expect(entry && field).toBeTruthy()
    if (to === from) expect([first.lost, first.filled]).toEqual([[], []])
    const before = snapshot(out)
    const again = await convert(inputs[from], to, out)
    expect(again.written).toEqual([])
    expect(again.unchanged).toEqual(first.written)
    expect([again.lost, again.filled]).toEqual([first.lost, first.filled])
    expect(snapshot(out)).toEqual(before)
  })
})

describe('where something else stands', () => {
  it('says for people that it is all there already', async () => {
    const out = temporaryFolder()
    await convert(inputs.journal, 'entire', out)
    const { stdout, code } = await run(['convert', inputs.journal, '--to', 'entire', '--out', out], { env })
    expect(code).toBe(0)
    expect(stdout).toMatch(/^unchanged: there already, and the same\n {2}\//)
  })

  it.concurrent.each(FORMATS)(
    '%s: an error that names the file, nothing changed, and --force',
    async (to) => {
      const out = temporaryFolder()
      const { written } = await convert(inputs.journal, to, out)
      const target = written.find((path) => !path.endsWith('index.json')) as string
      const ours = fs.readFileSync(target)
      fs.writeFileSync(target, 'mine')
      const before = snapshot(out)
      const refused = await run(['convert', inputs.journal, '--to', to, '--out', out, '--json'], { env })
      expect(refused.code).toBe(1)
      expect(JSON.parse(refused.stdout).error).toMatchObject({
        code: 'output-exists',
        message: expect.stringContaining(target),
        hint: expect.stringContaining('--force'),
      })
      expect(snapshot(out)).toEqual(before)
      expect((await convert(inputs.journal, to, out, '--force')).written).toEqual([target])
      expect(fs.readFileSync(target)).toEqual(ours)
    },
  )
})
