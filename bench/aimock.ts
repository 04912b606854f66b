/** The peer that replay is measured against: `@copilotkit/aimock` of npm, put in a folder that goes again, with the same answers. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { join } from 'node:path'

export type Aimock = { readonly version: string; readonly url: string; readonly child: ChildProcess }

/** What is asked last, and what is answered. */
export type Fixture = { readonly asked: string; readonly said: string }

/** Undefined where it cannot be had: there is no registry. */
export async function startAimock(folder: string, fixtures: readonly Fixture[]): Promise<Aimock | undefined> {
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  const install = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '@copilotkit/aimock']
  if (spawnSync('npm', install, { cwd: folder, timeout: 120_000 }).status !== 0) return undefined
  const root = join(folder, 'node_modules/@copilotkit/aimock')
  const { version } = JSON.parse(fs.readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  fs.writeFileSync(join(folder, 'fixtures.json'), JSON.stringify(fixtures))
  fs.writeFileSync(join(folder, 'serve.js'), SERVE)
  const child = spawn(process.execPath, ['serve.js'], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`aimock ended with ${code}`)))
    child.stdout.once('data', (said: Buffer) => resolve(said.toString().trim()))
  })
  return { version, url, child }
}

/** Its answers in as many pieces as ours, without waiting between them. */
const SERVE = `import { readFileSync } from 'node:fs'
import { LLMock } from '@copilotkit/aimock'
const mock = new LLMock({ port: 0, latency: 0, chunkSize: 20, journalMaxEntries: 100 })
for (const { asked, said } of JSON.parse(readFileSync('fixtures.json', 'utf8'))) mock.onMessage(asked, { content: said })
await mock.start()
console.log(mock.url)
`
