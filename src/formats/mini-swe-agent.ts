/**
 * mini-SWE-agent's trajectories, read: a document around `messages`, or, before 1.0, the bare list of them. Each answer holds the provider's
 * whole response, with its counts; what a command printed is a message of the user's.
 */
import { fromMillis } from '../transcript/instant.ts'
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isObject,
  rest,
  type Json,
  type JsonObject,
} from '../transcript/json.ts'
import type { SourceFile } from '../transcript/source.ts'
import { fromOpenAiUsage } from '../wire/openai-usage.ts'
import { costOf, toDollars } from './dollars.ts'
import { vocabulary } from './drift.ts'
import { documentOf, fileFormat, type FileReading } from './file-format.ts'
import type { Detection, ReadItem } from './format.ts'
import type { Head } from './head-records.ts'
import { takes } from './left-over.ts'
import { withDetails } from './openhands-event.ts'
import type { Said } from './placing.ts'
import { statusOf } from './swe-agent.ts'
import { tellList, type Facts } from './telling.ts'
import { unknownSaid } from './unknown.ts'
import { inside, unsaid } from './unsaid.ts'
import { fromWireMessage, taken } from './wire-said.ts'

export const miniSweAgent = fileFormat({
  id: 'mini-swe-agent',
  title: 'mini-SWE-agent: <instance>.traj.json',
  look: lookAtMini,
  vocabulary: vocabulary({
    records: [
      'document: info messages trajectory_format instance_id',
      'message: role content extra timestamp tool_calls tool_call_id function_call provider_specific_fields reasoning_content thinking_blocks',
    ],
  }),
  read: readMini,
})

const COMMAND = /```(?:mswea_bash_command|bash)\s*\n/
const OUTPUT = /^<returncode>-?\d+<\/returncode>/

function lookAtMini(head: Head): Detection | undefined {
  const document = documentOf(head)
  if (isObject(document)) {
    const { trajectory_format: named, info, messages } = document
    if (typeof named === 'string' && named.startsWith('mini-swe-agent'))
      return { confidence: 0.98, reason: `it says ${named.slice(0, 40)}` }
    const isStated = isObject(asObject(info)?.['model_stats']) && Array.isArray(messages)
    return isStated ? { confidence: 0.8, reason: 'messages with the statistics of a model' } : undefined
  }
  const texts = (asArray(document) ?? []).filter(isObject).map(({ content }) => asString(content) ?? '')
  const outputs = texts.filter((text) => OUTPUT.test(text)).length
  const isMini = outputs > 0 && texts.some((text) => COMMAND.test(text))
  return isMini ? { confidence: 0.95, reason: `${outputs} commands' return codes in tags` } : undefined
}

async function* readMini(
  file: SourceFile,
  { open, watch, head }: FileReading,
): AsyncGenerator<readonly ReadItem[]> {
  const telling = open()
  const isList = /^\uFEFF?\s*\[/.test(head.text)
  yield* tellList(file, isList ? undefined : 'messages', telling, {
    header(members, place) {
      if (Object.keys(members).length === 0) return
      watch?.record('document', members)
      telling.know(factsOf(members, firstAnswer(head)))
      telling.say(unknownSaid(members, 'document'), place)
    },
    element(value, place) {
      if (isObject(value)) watch?.record('message', value)
      telling.say(fromMessage(value), place)
    },
  })
}

const TAKEN = taken('extra')

function fromMessage(value: Json): Said {
  if (!isObject(value)) return unknownSaid(value)
  const extra = value['extra']
  const said = fromWireMessage('openai-chat', value, isObject(extra) ? TAKEN : undefined)
  if (!isObject(extra) || said.kind === 'event') return said
  const { response, ...others } = extra
  const seconds = asNumber(extra['timestamp'])
  const at = seconds === undefined ? undefined : fromMillis(seconds * 1000)
  const answer = said.role === 'assistant' ? answerOf(response, said) : undefined
  const more = {
    ...(at === undefined ? others : rest(others, TIME)),
    // What it says beyond its counts and its message, which stands in the entry.
    ...(answer === undefined ? response !== undefined && { response } : answer.left),
  }
  return {
    ...said,
    ...(at !== undefined && { at }),
    ...answer?.said,
    ...(Object.keys(more).length > 0 && { metadata: { ...said.metadata, extra: more } }),
  }
}

const TIME: ReadonlySet<string> = new Set(['timestamp'])

type Answer = {
  readonly said: Pick<Said, 'model' | 'usage' | 'call' | 'stopReason'>
  readonly left: { readonly response?: JsonObject }
}

function answerOf(response: Json | undefined, said: Said): Answer | undefined {
  if (!isObject(response)) return undefined
  const { id, model, usage, choices, ...left } = response
  const [choice] = asArray(choices) ?? []
  const stopReason = asString(asObject(choice)?.['finish_reason'])
  if (typeof id !== 'string' || typeof model !== 'string' || !isObject(usage)) return undefined
  // The answer's own message is the message that it is kept with.
  const others = (asArray(choices) ?? [choices ?? null]).map((one) =>
    isObject(one) ? (unsaid(one, CHOICE, said) ?? {}) : one,
  )
  return {
    said: {
      model,
      usage: fromOpenAiUsage(withDetails(usage)),
      call: { messageId: id },
      ...(stopReason !== undefined && { stopReason }),
    },
    left: { response: { ...left, choices: others } },
  }
}

const CHOICE = takes({
  message: inside('role content assistant tool_calls function_call id type function name arguments index'),
})

/** The provider's id of the first answer, where it stands near the beginning. */
function firstAnswer(head: Head): string | undefined {
  const messages = asArray(asObject(documentOf(head))?.['messages']) ?? []
  const first = messages.find((one) => isObject(one) && one['role'] === 'assistant')
  return asString(asObject(asObject(asObject(first)?.['extra'])?.['response'])?.['id'])
}

/** A benchmark's instance is what was asked, in any number of runs: only with what is a run's own does it name one. */
function factsOf(members: JsonObject, answer: string | undefined): Facts {
  const info = asObject(members['info'])
  const config = asObject(info?.['config'])
  const instance = asString(members['instance_id'])
  const model = asString(asObject(config?.['model'])?.['model_name'])
  const cwd = asString(asObject(config?.['environment'])?.['cwd'])
  const exit = asString(info?.['exit_status'])
  const version = asString(info?.['mini_version'])
  const cost = costOf(asObject(info?.['model_stats'])?.['instance_cost'])
  return {
    ...(instance !== undefined && { title: instance }),
    ...(instance !== undefined && answer !== undefined && { sessionId: `${instance}/${answer}` }),
    ...(model !== undefined && { model }),
    ...(cwd !== undefined && cwd !== '' && { cwd }),
    ...(version !== undefined && { version }),
    ...(exit !== undefined && exit !== '' && { stopReason: exit, status: statusOf(exit) }),
    ...(cost !== undefined && { reportedCost: toDollars(cost) }),
  }
}
