/** Attacks on whoever reads a terminal: characters that cannot be seen, in every text that a session has. */
import fs from 'node:fs'
import { dirname, join } from 'node:path'
import type { Attack } from './attack.ts'
import { tryEach } from './attack.ts'
import { claudeLogs } from './machine.ts'
import { run, temporaryFolder } from './program.ts'

const CHARACTERS = Array.from(
  '\u200b\ufeff\u180e\ufff9\ufffa\ufffb\u2060\u2064\u206a\u00ad\u3164\uffa0\u115f\u1160' +
    '\u202e\u2066\u200e\u061c\u2028\u001b\u009b\u0007\u007f\u{e0041}\ud800',
)
const COMMANDS = [
  ['list'],
  ['show', 'LOG'],
  ['search', 'needle'],
  ['cost', '--by', 'model'],
  ['stats'],
  ['doctor'],
]

export const invisibleCharacters: Attack = {
  name: 'terminal: unseen characters are shown',
  async prove() {
    const base = temporaryFolder()
    const id = '11111111-1111-4111-8111-111111111111'
    const log = join(base, '.claude/projects/-p', `${id}.jsonl`)
    const all = CHARACTERS.join('')
    fs.mkdirSync(dirname(log), { recursive: true })
    const lines = claudeLogs(2, {
      session: id,
      text: `needle ${all}`,
      cwd: `/x${all}`,
      more: { [`needle${all}`]: 1 },
    })
    fs.writeFileSync(log, lines.replaceAll('claude-sonnet-4-5', `claude${JSON.stringify(all).slice(1, -1)}`))
    const options = { cwd: base, env: { HOME: base, HANSARD_HOME: join(base, 'archive') } }
    await run(['sync'], options)
    const said = new Map<string, string>()
    for (const command of COMMANDS) {
      const { stdout, stderr } = await run(
        command.map((word) => (word === 'LOG' ? log : word)),
        options,
      )
      said.set(command[0] as string, stdout + stderr)
    }
    fs.rmSync(base, { recursive: true, force: true })
    const payloads = [...said.keys()].flatMap((command) =>
      CHARACTERS.map((character) => ({ command, character })),
    )
    return tryEach(payloads, ({ command, character }) => {
      const text = said.get(command) ?? ''
      if (!text.includes('claude') && !text.includes('needle')) return `nothing of it is shown: ${text}`
      return text.includes(character) ? 'it stands in what is printed' : undefined
    })
  },
}
