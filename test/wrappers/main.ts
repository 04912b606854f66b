/**
 * `npm run wrappers [-- --packages FOLDER] [--only TEXT] [--keep]`: the real packages with Hansard's wrappers around them, against a
 * provider on loopback: they give what they give without, and what is recorded equals what was billed. Exits 1 when one token differs.
 * `--packages`: a folder that they are installed in already.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runProgram } from './run-program.ts'
import { TYPES } from './types.ts'

/** Those that run on Node.js 20. */
const PACKAGES = [
  'openai@6',
  '@anthropic-ai/sdk',
  '@google/genai',
  'ai@6',
  '@ai-sdk/openai@3',
  '@ai-sdk/anthropic@3',
  '@langchain/core',
  '@langchain/openai',
  '@openai/agents',
  '@anthropic-ai/claude-agent-sdk',
  'zod',
]

const { values } = parseArgs({
  options: {
    packages: { type: 'string' },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
  },
})
const root = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'hansard-wrappers-'))
process.exitCode = (await main()) ? 0 : 1
if (values.keep) console.log(`\nkept: ${folder}`)
else rmSync(folder, { recursive: true, force: true, maxRetries: 5 })

/** Whether all is equal. */
async function main(): Promise<boolean> {
  if (!install()) return false
  const programs = readdirSync(join(root, 'test', 'wrappers'))
    .filter((name) => name.endsWith('.mjs') && !name.startsWith('shared') && name.includes(values.only))
    .sort()
  const problems = typeProblems()
  for (const problem of problems) console.log(`types: ${problem}`)
  if (problems.length === 0) console.log('types: each recorded client is of its client’s type')
  let isEqual = problems.length === 0
  for (const name of programs) {
    const { summary, problems: wrong } = await runProgram(name, folder)
    console.log(`${name.replace(/\.mjs$/, '').padEnd(18)} ${summary}`)
    for (const problem of wrong) console.log(`  ${problem}`)
    isEqual &&= wrong.length === 0
  }
  console.log(isEqual ? `\n${programs.length} programs, every token equal` : '\nsomething differs')
  return isEqual
}

function install(): boolean {
  const modules = join(folder, 'node_modules')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }\n')
  if (values.packages === undefined) {
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES]
    const npm = process.env['npm_execpath']
    const [command, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]]
    const { status, stderr } = spawnSync(command, [...first, ...args], { cwd: folder, encoding: 'utf8' })
    if (status !== 0) {
      console.log(`the packages cannot be installed: ${stderr.split('\n')[0]}`)
      return false
    }
  } else {
    // A folder of its own, for Hansard goes in as well.
    mkdirSync(modules)
    const given = join(values.packages, 'node_modules')
    for (const name of readdirSync(given))
      if (!name.startsWith('.') && name !== 'hansard') symlinkSync(join(given, name), join(modules, name))
  }
  symlinkSync(root, join(modules, 'hansard'))
  for (const name of readdirSync(join(root, 'test', 'wrappers')))
    if (name.endsWith('.mjs')) cpSync(join(root, 'test', 'wrappers', name), join(folder, name))
  return true
}

function typeProblems(): readonly string[] {
  writeFileSync(join(folder, 'types.ts'), TYPES)
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023']
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const args = [
    compiler,
    ...options,
    '--ignoreConfig',
    '--types',
    'node',
    '--typeRoots',
    join(root, 'node_modules', '@types'),
    'types.ts',
  ]
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return status === 0 ? [] : stdout.split('\n').filter((line) => line !== '')
}
