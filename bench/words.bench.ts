/** How fast text becomes terms, against the least that could be done: lower case, split at what is no letter. */
import { createTermList } from '../src/search/words.ts'
import type { Bench } from './bench.ts'
import { atLeast, type Result } from './measure.ts'

const CODE = `export async function readSessionEntries(path: string, { maxTokens = 200_000 } = {}): Promise<Entry[]> {
  const lines = (await readFile(join(HANSARD_HOME, path), 'utf8')).split('\\n')
  for (const [lineNumber, line] of lines.entries()) {
    if (line.trim() === '' || line_number > MAX_LINES) continue // nothing to read
    entries.push(parseEntry(line, { source: 'primary', sequence: lineNumber, byteOffset: offset }))
  }
  return entries.filter((entry) => entry.usage?.output ?? 0 > 0)
}
`
const PROSE = `The tests fail because the reader closes its file before the last line has been written. I will look at how the
recorder ends a session, then change the order of the two calls, and run everything again. It's a small change, but one that
every caller depends on; so let me first see who they are, and whether any of them waits for the file to be closed.
`
const CJK = `测试失败是因为读取器在最后一行写入之前就关闭了文件。我先看看记录器如何结束一个会话，然后调整两个调用的顺序，再运行一遍。
テストが失敗するのは、最後の行が書き込まれる前にリーダーがファイルを閉じてしまうためです。順序を変えてもう一度実行します。
마지막 줄이 기록되기 전에 리더가 파일을 닫기 때문에 테스트가 실패합니다. 두 호출의 순서를 바꾸고 다시 실행하겠습니다.
`

/** A long tool output; entries are mostly smaller, which the list is reused for. */
const TEXT_BYTES = 16_384

export const bench: Bench = ({ quick }) => {
  const results: Result[] = []
  for (const [name, sample, least] of [
    ['code', CODE, 100],
    ['English', PROSE, 100],
    ['CJK', CJK, 25],
  ] as const) {
    const text = sample.repeat(Math.ceil(TEXT_BYTES / Buffer.byteLength(sample)))
    const rounds = quick ? 16 : 64
    const megabytes = (Buffer.byteLength(text) * rounds) / 1e6
    const list = createTermList()
    let seen = 0
    // The best of many short rounds: what one core can do, whoever else uses it now and then.
    const terms = bestOf(() => {
      for (let round = 0; round < rounds; round += 1) {
        list.add(text)
        seen += list.take().length
      }
    })
    const split = bestOf(() => {
      for (let round = 0; round < rounds; round += 1) seen += text.toLowerCase().split(/\W+/).length
    })
    const rate = (milliseconds: number): number => (megabytes / milliseconds) * 1000
    const detail = `MB/s; ${rate(split).toFixed(0)} MB/s for toLowerCase and split (${(split / terms).toFixed(1)}×)`
    results.push(atLeast(`terms of ${name}`, seen > 0 ? rate(terms) : 0, least, detail))
  }
  return Promise.resolve(results)
}

function bestOf(work: () => void): number {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 50; round += 1) {
    const started = performance.now()
    work()
    best = Math.min(best, performance.now() - started)
  }
  return best
}
