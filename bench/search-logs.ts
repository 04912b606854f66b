/**
 * Logs to search in, as Claude Code leaves them: prose, code and tool output over a vocabulary in which few words are common and
 * most are rare, as in real ones. Made by rule, so that every run has the same.
 */
import fs from 'node:fs'
import { join } from 'node:path'

export type SearchLogs = {
  /** What `CLAUDE_CONFIG_DIR` names. */
  readonly config: string
  readonly bytes: number
  readonly files: number
}

/** Words by how often they come: `word(0)` in most entries, the last ones a few times in a gigabyte. */
const VOCABULARY = 60_000
const CHINESE = '错误文件会话记录搜索函数返回结果测试代码修改运行成功失败目录参数类型接口数据'

export function writeSearchLogs(config: string, sizes: { files: number; bytesEach: number }): SearchLogs {
  const random = createRandom(7)
  let bytes = 0
  for (let n = 0; n < sizes.files; n += 1) {
    const folder = join(config, 'projects', `-home-me-project-${n % 50}`)
    fs.mkdirSync(folder, { recursive: true })
    const session = `${n.toString(16).padStart(8, '0')}-2222-4222-8222-222222222222`
    const text = sessionText(session, n, sizes.bytesEach, random)
    fs.writeFileSync(join(folder, `${session}.jsonl`), text)
    bytes += Buffer.byteLength(text)
  }
  return { config, bytes, files: sizes.files }
}

const STEMS = 'ba ce di fo gu ha je ki lo mu na pe qui ra se ti vo wa xe yo zi sto tra ple gri cho'.split(' ')

/** The word of a rank: short for common ones, made of syllables. */
export function word(rank: number): string {
  let text = ''
  for (let left = rank + 30; left > 0; left = Math.floor(left / STEMS.length))
    text += STEMS[left % STEMS.length]
  return text
}

type Random = () => number

/** From 0 to 1, the same every time. */
function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

/** Zipf's law, near enough: the rank is a power of the vocabulary. */
function pick(random: Random): number {
  return Math.floor(VOCABULARY ** random()) - 1
}

function prose(length: number, random: Random): string {
  let text = ''
  while (text.length < length) {
    const kind = random()
    if (kind < 0.82) text += word(pick(random))
    else if (kind < 0.9) text += `${word(pick(random))}${capital(word(pick(random)))}`
    else if (kind < 0.94) text += `src/${word(pick(random))}/${word(pick(random))}.ts`
    else if (kind < 0.97) text += Math.floor(random() * 1000)
    else if (kind < 0.98) text += chinese(random)
    else text += '\n'
    text += random() < 0.1 ? ', ' : ' '
  }
  return text
}

function chinese(random: Random): string {
  const at = Math.floor(random() * (CHINESE.length - 4))
  return CHINESE.slice(at, at + 2 + Math.floor(random() * 3))
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function sessionText(session: string, n: number, size: number, random: Random): string {
  const lines: string[] = []
  const hex = (): string =>
    Math.floor(random() * 4_294_967_296)
      .toString(16)
      .padStart(8, '0')
  let at = Date.UTC(2026, 0, 1) + n * 3_600_000
  let last: string | null = null
  let call = ''
  for (let length = 0, step = 0; length < size; step += 1) {
    at += 1000 + Math.floor(random() * 20_000)
    const uuid = `${hex()}-0000-4000-8000-${hex()}0000`
    const wrapper = {
      parentUuid: last,
      isSidechain: false,
      userType: 'external',
      cwd: `/home/me/project-${n % 50}`,
      sessionId: session,
      version: '2.1.42',
      gitBranch: 'main',
      uuid,
      timestamp: new Date(at).toISOString(),
    }
    const line = step % 8 === 0 ? prompt(random) : step % 2 === 1 ? answer() : result()
    const text = JSON.stringify({ ...wrapper, ...line })
    lines.push(text)
    length += text.length
    last = uuid
  }
  return `${lines.join('\n')}\n`

  function answer(): object {
    call = `toolu_${hex()}${hex()}`
    return {
      type: 'assistant',
      requestId: `req_${hex()}`,
      message: {
        model: 'claude-opus-4-5',
        id: `msg_${hex()}${hex()}`,
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'text', text: prose(300 * random() + 40, random) },
          {
            type: 'tool_use',
            id: call,
            name: random() < 0.02 ? 'WebFetch' : random() < 0.5 ? 'Bash' : 'Read',
            input: { command: prose(120, random), file_path: `/home/me/src/${word(pick(random))}.ts` },
          },
        ],
        stop_reason: 'tool_use',
        usage: {
          input_tokens: 3,
          cache_creation_input_tokens: 412,
          cache_read_input_tokens: 40_000,
          output_tokens: 120,
        },
      },
    }
  }
  function result(): object {
    const output = prose(2600 * random() + 100, random)
    return {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: call, content: output }] },
      toolUseResult: { stdout: random() < 0.3 ? output : '', stderr: '', interrupted: false },
    }
  }
}

function prompt(random: Random): object {
  return { type: 'user', message: { role: 'user', content: prose(200, random) } }
}
