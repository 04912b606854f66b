/** Every format on bytes that are not its own: entries, unknowns or damage, never an exception, and every view draws what came of it. */
import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createDevflowView } from '../src/replay/devflow-view.ts'
import { createHtmlView } from '../src/replay/html.ts'
import { createMarkdownView } from '../src/replay/markdown.ts'
import { formatTranscript } from '../src/sources/transcript-text.ts'
import { render } from '../src/replay/view.ts'
import { detect } from '../src/sources/detect.ts'
import { allFormats } from '../src/sources/formats.ts'
import { openSource } from '../src/sources/open.ts'
import { readItems, readTranscripts } from '../src/sources/read.ts'
import { toJson } from '../src/transcript/json.ts'
import { temporaryFolder } from './program.ts'

const folder = temporaryFolder()

/** Deeper than any function of ours could call itself: a frame has more than 50 bytes, the stack less than 1 MB. */
const DEPTH = 20_000
const DEEP = `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`

const FILES: Readonly<Record<string, string | Buffer>> = {
  empty: '',
  'nul-filled': Buffer.alloc(5000),
  binary: Buffer.from([1, 2, 0xff, 10, 0xfe, 10, 0, 0, 10]),
  'no-records': '[]\n1\nnull\n"x"\n{}\n',
  proto:
    '{"__proto__":{"x":1},"type":"user","message":{"__proto__":1}}\n{"constructor":{"prototype":{"x":1}}}\n',
  deep: `{"type":"user","message":${DEEP}}\n{"type":"assistant","content":${DEEP},"turns":${DEEP}}\n`,
  'wrong-types':
    '{"type":1,"message":[],"uuid":{},"parentUuid":5,"sessionId":[],"timestamp":{},"usage":"x","content":7}\n' +
    '{"role":{},"content":[null,1,[],{"type":9}],"tool_calls":{},"sequence":"x","created_at":false,"source":3}\n' +
    '{"runId":[],"turns":[null,1,{"role":3,"toolCalls":{"id":1}}],"metadata":5,"startedAt":-1}\n',
  'one-document': '{"runId":{},"metadata":[],"turns":{"a":1}}',
}
for (const [name, content] of Object.entries(FILES)) fs.writeFileSync(join(folder, name), content)

describe.each(allFormats.map((format) => [format.id, format] as const))('%s', (_, format) => {
  it.each(Object.keys(FILES))('reads %s without an exception', async (name) => {
    const { transcripts } = await readTranscripts(readItems(await openSource(join(folder, name)), format))
    for (const { session, entries } of transcripts) {
      expect(toJson(entries)).toBeTypeOf('string')
      expect(formatTranscript(entries)).toBeTypeOf('string')
      for (const view of [createDevflowView(), createMarkdownView(), createHtmlView()]) {
        expect(render(view, session, entries)).toBeTypeOf('string')
      }
    }
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  it('reads a folder of all of them without an exception', async () => {
    await readTranscripts(readItems(await openSource(folder), format))
  })
})

it('none of them is taken for a transcript on strong evidence', async () => {
  for (const name of ['empty', 'nul-filled', 'binary', 'no-records']) {
    expect(await detect(await openSource(join(folder, name)), { formats: allFormats }), name).toBeUndefined()
  }
})
