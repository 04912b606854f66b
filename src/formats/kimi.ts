/**
 * Kimi Code's own sessions: `session_<uuid>/agents/<agent>/wire.jsonl`, one for each agent, with `state.json` beside `agents`. Kimi CLI's
 * before it: `<id>/wire.jsonl`. Each agent's file is a session; a subagent's names the main one as its parent.
 */
import { uuidFrom } from '../transcript/ids.ts'
import { asNumber, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import type { Source, SourceFile } from '../transcript/source.ts'
import { readDocument } from './document.ts'
import { foldedFormat, vote } from './folded-format.ts'
import type { Detection, Format } from './format.ts'
import type { Head } from './head-records.ts'
import { ID, createKimiFold, type KimiPlace } from './kimi-fold.ts'
import { isCliLine } from './kimi-cli-lines.ts'
import { createSteps, surveySteps } from './kimi-steps.ts'
import { VOCABULARY, watchKimi } from './kimi-vocabulary.ts'
import { PLACES } from './places.ts'

export const kimi: Format = foldedFormat({
  id: ID,
  title: 'Kimi: session_<uuid>/agents/<agent>/wire.jsonl',
  words: `type metadata time message role content text toolCalls origin event uuid stepUuid part think toolCallId name args result output usage
    finishReason messageId context.append_message context.append_loop_event content.part tool.call tool.result user assistant`,
  look,
  async fold(file, source) {
    return createKimiFold(await placeOf(source, file), createSteps(await surveySteps(file)))
  },
  vocabulary: VOCABULARY,
  watch: watchKimi,
  isCandidate: ({ path }) => path.endsWith('.jsonl'),
  places: PLACES.kimi,
  unit: ({ path }) => /^(.*?)\/(?:agents\/.*|state\.json|wire\.jsonl)$/.exec(path)?.[1] ?? path,
})

function look(head: Head): Detection | undefined {
  const { document } = head
  if (isObject(document) && isState(document))
    return { confidence: 0.9, reason: "Kimi Code's state of a session" }
  if (head.records.some(isHeader)) {
    const found = vote(head, (record) => isLine(record) || isCliLine(record), {
      what: 'line',
      of: "Kimi's wire",
    })
    if (found !== undefined) return found
  }
  return vote(head, (record) => isLine(record) && OWN.test(asString(record['type']) ?? ''), {
    confidence: 0.8,
    what: 'line',
    of: "a wire like Kimi's",
  })
}

const isHeader = ({ type, protocol_version: version }: JsonObject): boolean =>
  type === 'metadata' && typeof version === 'string'

const OWN = /^(?:context\.append_|llm\.|turn\.(?:prompt|steer|cancel)|usage\.record)/

function isLine(record: JsonObject): boolean {
  const { type, time } = record
  return (
    isHeader(record) ||
    (typeof type === 'string' && /^[a-z_]+\.[a-z_]+$/.test(type) && asNumber(time) !== undefined)
  )
}

/** Version 2 has its times in milliseconds, and calls the folder `cwd`. */
function isState({ createdAt, updatedAt, agents, workDir, cwd }: JsonObject): boolean {
  return isTime(createdAt) && isTime(updatedAt) && isObject(agents) && typeof (workDir ?? cwd) === 'string'
}

const isTime = (value: Json | undefined): boolean => typeof value === 'string' || typeof value === 'number'

/** `…/session_<uuid>/agents/<agent>/wire.jsonl`: which agent of which session. */
async function placeOf(source: Source, file: SourceFile): Promise<KimiPlace> {
  const path =
    source.kind === 'file'
      ? source.path.replaceAll('\\', '/')
      : `${source.path.replaceAll('\\', '/')}/${file.path}`
  const [, session, agent] = /([^/]+)\/agents\/([^/]+)\/wire\.jsonl$/.exec(path) ?? []
  const [, older] = /([0-9a-f]{8}-[0-9a-f-]{27})\/wire\.jsonl$/.exec(path) ?? []
  const own = session ?? older
  const folder = source.kind === 'file' ? '' : file.path.slice(0, file.path.lastIndexOf('/') + 1)
  const beside = session === undefined ? undefined : await source.find(toBeside(folder))
  const state = beside === undefined ? undefined : asObject((await readDocument(beside)).raw)
  const isMain = agent === undefined || agent === 'main'
  return {
    ...(own !== undefined && { sessionId: isMain ? own : `${own}/${agent}` }),
    ...(own !== undefined && !isMain && { parent: uuidFrom(ID, own) }),
    ...(own !== undefined && { toSubagent: (name: string) => uuidFrom(ID, `${own}/${name}`) }),
    ...(state !== undefined && isMain && { state }),
  }
}

/** `agents/main/` lies two folders below `state.json`. */
function toBeside(folder: string): string {
  if (folder === '') return '../../state.json'
  return `${folder.replace(/agents\/[^/]+\/$/, '')}state.json`
}
