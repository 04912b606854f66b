/** The table of formats in `docs/formats/README.md`, made of the code: what there is, what it can, what its counts mean, what it loses. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ABOUT } from '../src/formats/about.ts'
import { formats } from '../src/formats/index.ts'
import { LIVE } from '../src/formats/live.ts'

const HEAD = `# Formats

How agents, evaluations and tools lay down what happened, and what Hansard reads and writes of it. Made by \`npm run format-table\`; [CONTRIBUTING.md](CONTRIBUTING.md) says how to add one. Every format is told by content, never by a name.

**Written** as files that others read; **live** beside a journal as it grows. **Counts** say which side the format's token counters are on; what is read is disjoint, whichever that is. **Not held**: what of a session a file of the format does not say.

| format | what | seen | | counts | not held |
|---|---|---|---|---|---|
`

export function formatTable(): string {
  const rows = formats.map(({ id, title, write }) => {
    const { seen = '', counts = '', lost = '' } = ABOUT.get(id) ?? {}
    const can = ['read', ...(write === undefined ? [] : ['written']), ...(LIVE.has(id) ? ['live'] : [])].join(
      ', ',
    )
    return `| [${id}](${id}.md) | ${cell(title)} | ${cell(seen)} | ${can} | ${cell(counts)} | ${cell(lost)} |\n`
  })
  return `${HEAD}${rows.join('')}\n[journal](journal.md) is Hansard's own.\n`
}

const cell = (text: string): string => text.replaceAll('|', '\\|')

export const tablePath = (root: string): string => join(root, 'docs/formats/README.md')

export const tableWritten = (root: string): string => readFileSync(tablePath(root), 'utf8')

if (process.argv[2] === '--write') writeFileSync(tablePath(process.cwd()), formatTable())
