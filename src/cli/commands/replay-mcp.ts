/** `hansard replay ID --mcp`: a server of tools on standard input and output that gives what was recorded, and never runs anything. */
import { createInterface } from 'node:readline'
import os from 'node:os'
import { createMcpStub } from '../../playback/mcp-stub.ts'
import { openRecording } from '../../playback/recording.ts'
import { readTools } from '../../playback/recorded-tools.ts'
import { STUBBED } from '../../playback/server.ts'
import { parseJson, toJson } from '../../transcript/json.ts'
import { loadConfig } from '../config.ts'
import { flush, out } from '../print.ts'

export type McpFlags = { readonly mcpServer?: string; readonly home?: string }

export async function serveTools(named: string, flags: McpFlags): Promise<void> {
  const { home } = await loadConfig(flags)
  const recording = await openRecording(named, home)
  try {
    const recorded = await readTools(recording, [process.cwd(), os.homedir()])
    const stub = createMcpStub(recording.exchanges, recorded, {
      ...(flags.mcpServer !== undefined && { server: flags.mcpServer }),
      onStubbed: tell,
    })
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
      if (line.trim() === '') continue
      const answer = stub.handle(parseJson(line))
      if (answer === undefined) continue
      await out(`${toJson(answer)}\n`)
      await flush()
    }
  } finally {
    recording.close()
  }
}

/** The replay that the agent runs in reports which tools were answered; one that is not there does not matter. */
function tell(name: string): void {
  const url = process.env['HANSARD_REPLAY_URL']
  if (url === undefined || !/^http:\/\/127\.0\.0\.1:\d+$/.test(url)) return
  fetch(`${url}${STUBBED}`, { method: 'POST', body: JSON.stringify({ name }) }).catch(() => {})
}
