import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SCHEMA } from '../../bench/opencode-sample.ts'
import { detect } from '../sources/detect.ts'
import { allFormats } from '../sources/formats.ts'
import { openSource } from '../sources/open.ts'
import { readAll } from '../../test/memory-files.ts'
import { openDatabase } from '../sqlite/driver.ts'
import { kilo } from './opencode.ts'

const AT = 1_770_000_000_000
const BOARD = `
  CREATE TABLE kilo_board (root_session_id TEXT PRIMARY KEY, objective TEXT NOT NULL);
  CREATE TABLE kilo_board_message (id TEXT PRIMARY KEY, board_root_session_id TEXT NOT NULL, body TEXT NOT NULL);`

let folder = ''
beforeEach(() => void (folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-kilo-'))))
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

async function make(schema: string): Promise<string> {
  const path = join(folder, 'x.db')
  const database = await openDatabase(path)
  database.exec(SCHEMA + schema)
  const insert = (table: string, row: Readonly<Record<string, string | number>>): void => {
    const columns = Object.keys(row)
    database
      .prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      .run(...Object.values(row))
  }
  const time = { time_created: AT, time_updated: AT }
  insert('session', {
    id: 'ses_1',
    project_id: 'p1',
    slug: 'a',
    directory: '/p',
    title: 'A look',
    version: '7.7.9',
    ...time,
  })
  const answer = { role: 'assistant', time: { created: AT }, modelID: 'm', providerID: 'anthropic' }
  insert('message', { id: 'msg_1', session_id: 'ses_1', ...time, data: JSON.stringify(answer) })
  const command = (exit: number): string =>
    JSON.stringify({
      type: 'tool',
      tool: 'bash',
      callID: `call-${exit}`,
      state: { status: 'completed', input: { command: 'make' }, output: 'done', metadata: { exit } },
    })
  for (const exit of [0, 3])
    insert('part', {
      id: `prt_${exit}`,
      message_id: 'msg_1',
      session_id: 'ses_1',
      ...time,
      data: command(exit),
    })
  if (schema !== '') insert('kilo_board', { root_session_id: 'ses_1', objective: 'mend it' })
  if (schema !== '')
    insert('kilo_board_message', { id: 'b1', board_root_session_id: 'ses_1', body: 'the tests are mine' })
  database.close()
  return path
}

describe("Kilo's database", () => {
  it('is told from OpenCode’s by its board, and its sessions are Kilo’s', async () => {
    const source = await openSource(await make(BOARD))
    expect(await detect(source, { formats: allFormats })).toMatchObject({ format: { id: 'kilo' } })
    const [transcript] = await readAll(kilo, source)
    expect(transcript?.session).toMatchObject({
      agent: 'kilo',
      native: { agent: 'kilo', sessionId: 'ses_1' },
      version: '7.7.9',
    })
    expect(transcript?.entries.filter(({ metadata }) => metadata?.['record'] !== undefined)).toHaveLength(4)
    expect(JSON.stringify(transcript?.entries)).toContain('the tests are mine')
  })

  it('is surely Kilo’s in its own folder, with a board or without', async () => {
    const source = await openSource(await make(''))
    expect(await detect(source, { formats: allFormats })).toMatchObject({ format: { id: 'opencode' } })
    expect(await kilo.isSurely?.(source)).toBe(true)
  })

  it('says that a command failed whose exit code is not 0', async () => {
    const [transcript] = await readAll(kilo, await openSource(await make(BOARD)))
    const results = transcript?.entries.flatMap(({ blocks }) =>
      blocks.filter(({ type }) => type === 'tool-result'),
    )
    expect(results).toMatchObject([{ callId: 'call-0' }, { callId: 'call-3', isError: true }])
    expect(results?.[0]).not.toHaveProperty('isError')
  })
})
