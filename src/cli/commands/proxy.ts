/** `hansard proxy`: the recording proxy alone, until it is told to stop. */
import { startProxy } from '../../capture/proxy/proxy.ts'
import type { Umask } from '../../capture/live-formats.ts'
import { toUpstreams } from '../../capture/proxy/upstreams.ts'
import { areWritten } from '../format-names.ts'
import { loadConfig } from '../config.ts'
import { flush, note, out, outJson } from '../print.ts'
import { delayLine, inArchive, recordedLine } from '../recorded-line.ts'

export type ProxyFlags = {
  readonly port?: number
  readonly upstream?: readonly string[]
  readonly format?: readonly string[]
  readonly umask?: Umask
  readonly home?: string
  readonly json?: boolean
}

export async function proxy(flags: ProxyFlags): Promise<void> {
  const { home, formats } = await loadConfig({ ...flags, ...(flags.format && { formats: flags.format }) })
  if (!(await areWritten(formats, flags.json === true))) return
  const upstreams = toUpstreams(flags.upstream, process.env)
  const running = await startProxy({
    upstreams,
    ...(flags.port !== undefined && { port: flags.port }),
    ...(home !== undefined && { home }),
    ...(formats && { formats }),
    ...(flags.umask !== undefined && { umask: flags.umask }),
    onFailure: ({ message }) => note(`hansard: ${message}`),
  })
  const { url, port } = running
  if (flags.json) await outJson({ url, port, upstreams: [...upstreams.keys()] })
  else await out(`${url}\n`)
  // Whoever started it waits for this.
  await flush()
  note(`ANTHROPIC_BASE_URL=${url}/anthropic OPENAI_BASE_URL=${url}/openai/v1; Ctrl-C ends it`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  const passed = await running.close()
  note(recordedLine(inArchive(home, passed), passed.length))
  const delays = delayLine(running.delays())
  if (delays !== undefined) note(delays)
}
