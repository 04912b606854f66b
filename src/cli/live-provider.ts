/** Asks the provider what a recording has just answered, to see whether it still answers in the same way. */
import http from 'node:http'
import https from 'node:https'
import { toRoute } from '../capture/proxy/upstreams.ts'
import { cite } from '../playback/cite.ts'
import { providerDrift, shapeOf, type AnswerBytes } from '../playback/provider-drift.ts'
import type { Recording } from '../playback/recording.ts'
import type { Answered } from '../playback/server.ts'
import type { Divergence } from '../playback/verify.ts'
import type { Upstream } from '../sources/redirection.ts'

export type LiveProvider = {
  readonly onAnswered: (answered: Answered) => void
  /** What it answered otherwise, once it has answered all. */
  divergences(): Promise<readonly Divergence[]>
}

/** Each answer is held to be compared. */
const MOST_BYTES = 32 * 1024 * 1024

export function createLiveProvider(
  recording: Recording,
  upstreams: ReadonlyMap<string, Upstream>,
): LiveProvider {
  const asked: Promise<Divergence | undefined>[] = []
  const compare = async ({
    live,
    headers,
    index,
    answer,
    api,
  }: Answered): Promise<Divergence | undefined> => {
    const exchange = recording.exchanges[index]
    const route = toRoute(upstreams, live.url)
    if (exchange === undefined || route === undefined || answer.from !== 'tape') return undefined
    const heard = await ask(new URL(route.path, route.upstream.url), headers, live.bytes)
    const type = answer.headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
    const bytes = Buffer.concat(answer.frames.map(([, frame]) => frame))
    const then = shapeOf(api, { status: answer.status, contentType: type, bytes })
    const differences = typeof heard === 'string' ? [] : providerDrift(then, shapeOf(api, heard))
    if (typeof heard !== 'string' && differences.length === 0) return undefined
    const { calls } = await recording.calls(exchange.session)
    const at = calls.find(({ call }) => call === exchange.call)?.answered
    const citation = at ?? cite(exchange, await recording.calls(exchange.session), undefined).citation
    return {
      drift: 'provider',
      where: 'answer',
      ...(citation !== undefined && { citation }),
      call: index + 1,
      what:
        typeof heard === 'string'
          ? `the provider cannot be asked: ${heard}`
          : 'the provider answers in another way',
      differences,
    }
  }
  return {
    onAnswered: (answered) => void asked.push(compare(answered)),
    divergences: async () => (await Promise.all(asked)).filter((one) => one !== undefined),
  }
}

/** What went wrong, in words, or what came. */
function ask(url: URL, headers: Answered['headers'], bytes: Buffer): Promise<AnswerBytes | string> {
  const { host: _, connection: __, 'accept-encoding': ___, ...rest } = headers
  const kept = { ...rest, 'content-length': String(bytes.length) }
  return new Promise((resolve) => {
    const request = (url.protocol === 'https:' ? https : http).request(
      url,
      { method: 'POST', headers: kept },
      (response) => {
        const chunks: Buffer[] = []
        let length = 0
        response.on('data', (chunk: Buffer) => {
          length += chunk.length
          if (length <= MOST_BYTES) chunks.push(chunk)
        })
        response.on('error', (error) => resolve(error.message))
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            contentType: response.headers['content-type'] ?? '',
            bytes: Buffer.concat(chunks),
          }),
        )
      },
    )
    request.on('error', (error) => resolve(error.message))
    request.end(bytes)
  })
}
