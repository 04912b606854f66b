/** `npm run bench -- chunks`: of the proxy's bench the row of chunks, by itself; it takes three minutes. */
import type { ChildProcess } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { BIN } from './built-server.ts'
import { burstDelays, chunkRow, modelDelays, startModel } from './proxy-chunks.ts'
import type { Ways } from './proxy-load.ts'
import { PARTS, start } from './proxy-processes.ts'

export const bench: Bench = async ({ quick }) => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hansard-chunks-'))
  const children: ChildProcess[] = []
  const model = await startModel()
  try {
    const tee = await start(children, [PARTS, 'tee', model.url, join(folder, 'tee.log')])
    const upstream = ['--upstream', `anthropic=${model.url}`]
    const ours = await start(children, [BIN, 'proxy', '--home', join(folder, 'home'), ...upstream])
    const ways: Ways = { direct: { url: model.url }, tee: { url: tee }, ours: { url: ours } }
    return [chunkRow(await modelDelays(ways, quick ? 5 : 21), await burstDelays(ways, quick ? 1000 : 3000))]
  } finally {
    model.close()
    for (const child of children) child.kill('SIGKILL')
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
