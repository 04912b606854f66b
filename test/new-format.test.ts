/** `npm run new-format`: a reader that works, its test and its page, in the lists of formats. */
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Format } from '../src/formats/format.ts'
import { memoryFileSource, readAll } from './memory-files.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const script = join(root, 'scripts/new-format.mjs')

/** A place like the repository, inside of it, so that what is made there finds what it imports. */
function place(): string {
  const folder = fs.mkdtempSync(join(root, 'node_modules/.new-format-'))
  for (const path of ['src/formats', 'src/sources', 'docs/formats'])
    fs.mkdirSync(join(folder, path), { recursive: true })
  for (const path of ['src/formats/index.ts', 'src/formats/about.ts', 'src/sources/load-format.ts'])
    fs.copyFileSync(join(root, path), join(folder, path))
  return folder
}

it('makes a format that is listed, told and read', async () => {
  const folder = place()
  try {
    execFileSync(process.execPath, [script, 'my-agent', '--root', folder])
    expect(fs.readFileSync(join(folder, 'src/formats/index.ts'), 'utf8')).toMatch(
      /import \{ myAgent \} from '.\/my-agent.ts'[\s\S]*\n {2}myAgent,\n {2}raw,/,
    )
    expect(fs.readFileSync(join(folder, 'src/sources/load-format.ts'), 'utf8')).toContain(
      "['my-agent', async () =>",
    )
    expect(fs.readFileSync(join(folder, 'src/formats/about.ts'), 'utf8')).toContain("['my-agent', about(")
    const log = fs.readFileSync(join(folder, 'test/fixtures/my-agent/log.jsonl'), 'utf8')
    expect(fs.readFileSync(join(folder, 'docs/formats/my-agent.md'), 'utf8')).toMatch(
      /## Records[\s\S]*## Tokens[\s\S]*## Limits/,
    )
    const made = join(folder, 'src/formats/my-agent.ts')
    // Made elsewhere, it reads what the repository has.
    fs.writeFileSync(
      made,
      fs
        .readFileSync(made, 'utf8')
        .replaceAll("from './", `from '${root}/src/formats/`)
        .replaceAll("from '../", `from '${root}/src/`),
    )
    const { myAgent } = (await import(made)) as { myAgent: Format }
    expect(await myAgent.detect(memoryFileSource('x', log))).toMatchObject({ confidence: 0.95 })
    const [told] = await readAll(myAgent, memoryFileSource('x', log))
    expect(told?.session.native).toEqual({ agent: 'my-agent', sessionId: 's1' })
    expect(told?.entries.map(({ role, metadata }) => [role, metadata])).toEqual([
      ['user', undefined],
      ['assistant', { mood: 'good' }],
      [undefined, undefined],
    ])
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})

it('writes over nothing, and takes no id that is none', () => {
  const folder = place()
  try {
    const run = (id: string) =>
      spawnSync(process.execPath, [script, id, '--root', folder], { encoding: 'utf8' })
    for (const id of ['', 'My Agent', '../up', '-x', 'codex']) expect(run(id).status).toBe(2)
    fs.writeFileSync(join(folder, 'docs/formats/taken.md'), 'mine')
    expect(run('taken')).toMatchObject({ status: 2, stderr: 'docs/formats/taken.md is there already\n' })
    expect(fs.existsSync(join(folder, 'src/formats/taken.ts'))).toBe(false)
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
})
