/**
 * `.entire/metadata/<session>/` as forgeflare writes it: a line for each user and assistant turn as it comes, the first prompt with
 * the line that has it, and the context at the end. Nothing else below `.entire/` is touched.
 */
import { textOf, contentText, type ToolCallBlock } from '../transcript/block.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { checkId, isUuid, uuidFrom } from '../transcript/ids.ts'
import { asObject, isObject, toJson } from '../transcript/json.ts'
import type { Session } from '../transcript/session.ts'
import { isDerived } from './claude-derived.ts'
import { isFlatLine } from './claude-facts.ts'
import { createToolNames, loseOfLine } from './claude-losses.ts'
import { toTimestamp } from './claude-time.ts'
import { entryTimestamp, isOwnLine, lineType, toClaudeLine } from './claude-write.ts'
import type { FileOperation, Writer } from './format.ts'
import { loseEntry, loseFacts, loseSession } from './lost-facts.ts'
import { createPassed } from './passed-entries.ts'
import { checkFree } from './written-lines.ts'

export const entireWriter: Writer = {
  root: '.entire',
  ignored: () => 'metadata',
  begin(session, context) {
    const name = entireName(session)
    const folder = `metadata/${name}`
    checkFree(`${folder}/full.jsonl`, context)
    const version = session.version ?? context.version
    if (session.version === undefined) context.filled(undefined, 'version')
    if (session.cwd === undefined) context.filled(undefined, 'cwd')
    const branch = session.git?.branch
    const last = new Map<string, string>()
    const actions: string[] = []
    let prompted = false
    let model = session.model
    let at = session.startedAt
    let firstAt: string | undefined
    const names = createToolNames()
    const passed = createPassed()
    let isFlat: boolean | undefined
    let lineModel: string | undefined
    let subagentModel: string | undefined
    let earliest: string | undefined
    let latest: string | undefined
    // Prompt and context are written again from the entries; a summary was somebody else's.
    const texts = asObject(session.metadata?.['entire'])
    const heldTexts = texts?.['summary'] === undefined ? texts : undefined

    const toLine = (entry: Entry): string => {
      if (entry.at === undefined) context.filled(entry, 'timestamp')
      at = entry.at ?? at
      firstAt ??= entry.at
      const uuid = toUuid(entry.id, entry, name)
      const before = last.get(entry.source) ?? null
      last.set(entry.source, uuid)
      const above = passed.resolve(entry.parent)
      const parentUuid = typeof above === 'string' ? toUuid(above, entry, name) : above
      const line = toClaudeLine(entry, {
        sessionId: name,
        uuid,
        parentUuid: parentUuid === undefined ? before : parentUuid,
        timestamp: entryTimestamp(entry) ?? toTimestamp(at ?? EPOCH),
        cwd: session.cwd ?? '',
        version,
        ...(branch !== undefined && { gitBranch: branch }),
      })
      const lost = names.lostOf(entry)
      if (typeof entry.parent === 'string' && above === null) lost.push('parent')
      loseOfLine(entry, uuid, context, lost)
      const isMessage = isObject(line) && line['message'] !== undefined
      if (isMessage) isFlat ??= isFlatLine(line)
      observe(entry, at ?? EPOCH)
      return toJson(line)
    }

    const observe = (entry: Entry, at: string): void => {
      earliest = earliest === undefined || at < earliest ? at : earliest
      latest = latest === undefined || at > latest ? at : latest
      // Of what the lines say, the primary source's first model stands for the session.
      if (lineType(entry) !== 'assistant' || entry.model === undefined) return
      if (entry.source === PRIMARY) lineModel ??= entry.model
      else subagentModel ??= entry.model
    }
    /** The session as its reader will tell it. */
    const held = (start: string | undefined): Partial<Session> => {
      const native = { agent: isFlat === false ? 'claude-code' : 'entire', sessionId: name }
      const startedAt = isFlat === true ? start : earliest
      const read = lineModel ?? subagentModel ?? model
      return {
        id: uuidFrom(native.agent, name),
        native,
        names: { entire: name },
        version,
        status: 'completed',
        ...(isFlat === false && { agent: native.agent }),
        ...(read !== undefined && { model: read }),
        ...(session.cwd !== undefined && { cwd: session.cwd }),
        ...(branch !== undefined && { git: { branch } }),
        ...(startedAt !== undefined && { startedAt }),
        ...(latest !== undefined && { endedAt: latest }),
        ...(heldTexts !== undefined && { metadata: { entire: heldTexts } }),
      }
    }

    return {
      start: () => [],
      entry(entry) {
        // The line that it was read from says it again.
        if (isOwnLine(entry) && isDerived(entry)) return []
        if (entry.metadata?.['record'] === CHECKPOINT && isOwnLine(entry)) {
          loseEntry(entry, 'checkpoint metadata, which only Entire writes', context)
          return []
        }
        if (!hasLine(entry)) {
          passed.pass(entry)
          loseEntry(entry, 'it is no turn of a user, assistant or tool', context)
          return []
        }
        model ??= entry.model
        for (const block of entry.blocks) if (block.type === 'tool-call') actions.push(toAction(block))
        const operations: FileOperation[] = [
          { op: 'append', path: `${folder}/full.jsonl`, text: `${toLine(entry)}\n` },
        ]
        const prompt = !prompted && isPrompt(entry) ? textOf(entry.blocks) : ''
        if (prompt.trim() !== '') {
          prompted = true
          operations.push({ op: 'create', path: `${folder}/prompt.txt`, content: prompt })
        }
        return operations
      },
      end(ended) {
        const start = ended.startedAt ?? firstAt
        model = ended.model ?? model
        if (model === undefined) context.filled(undefined, 'model')
        if (start === undefined) context.filled(undefined, 'start')
        if (latest === undefined) loseSession('it has no turns', context)
        else loseFacts(ended, held(start), context)
        const head = [
          `- **Session ID**: ${name}`,
          `- **Model**: ${model ?? UNKNOWN}`,
          `- **Start**: ${start === undefined ? UNKNOWN : toTimestamp(start)}`,
        ]
        const tail = actions.length === 0 ? [] : ['', '## Key Actions', '', ...actions]
        const content = `${['# Session Context', '', ...head, ...tail].join('\n')}\n`
        return [{ op: 'write', path: `${folder}/context.md`, content }]
      },
    }
  },
}

/**
 * The seed's lines are turns of the user and the assistant: system prompts, parameters, errors and other events have none. Lines
 * that were read go back, whatever they are.
 */
function hasLine(entry: Entry): boolean {
  const { kind, role } = entry
  return isOwnLine(entry) || (kind === 'message' && role !== undefined && role !== 'system')
}

/** The record tag of what a checkpoint's own metadata files say. */
export const CHECKPOINT = 'checkpoint'

/** What `context.md` says for a model or a start that nobody knows. */
export const UNKNOWN = 'unknown'

/**
 * `{UTC date}-{uuid v4}`: the name the session already has, or one that is the same each time it is converted. An agent's own
 * UUID is kept, as Entire keeps it.
 */
export function entireName(session: Session): string {
  const given = session.names?.['entire']
  if (given !== undefined) return checkId(given, 'Entire session id')
  const native = session.native?.sessionId
  const uuid = native !== undefined && isUuid(native) ? native : asVersion4(uuidFrom('entire', session.id))
  return `${(session.startedAt ?? EPOCH).slice(0, 10)}-${uuid}`
}

const EPOCH = '1970-01-01T00:00:00.000Z'

/** Derived, not random; but readers that check the version must find the one that the format promises. */
const asVersion4 = (uuid: string): string => `${uuid.slice(0, 14)}4${uuid.slice(15)}`

/** Ids that lines had are put back whatever they look like; those of other formats become UUIDs, the same each time. */
function toUuid(id: string, entry: Entry, session: string): string {
  return isOwnLine(entry) || isUuid(id) ? id : uuidFrom(session, id)
}

const isPrompt = ({ kind, role, source }: Entry): boolean =>
  kind === 'message' && role === 'user' && source === PRIMARY

const ACTION_CHARACTERS = 80

/** `- **tool**: first argument`: the first as the agent wrote them, on one line. */
function toAction({ name, input, inputBlob }: ToolCallBlock): string {
  const values = isObject(input) ? Object.values(input) : [input]
  const first = values.length === 0 ? {} : values[0]
  const text = typeof first === 'string' ? first : first === undefined ? '' : toJson(first)
  const shown = inputBlob === undefined ? text : contentText(inputBlob)
  return `- **${oneLine(name)}**: ${oneLine(shown)}`.trimEnd()
}

/** Cut at 80 characters, never inside one. Twice as many units hold them all, however long the text. */
function oneLine(text: string): string {
  const characters = Array.from(text.slice(0, 2 * ACTION_CHARACTERS + 2))
  const shown = characters.slice(0, ACTION_CHARACTERS).join('')
  const flat = shown.replaceAll(/\s+/g, ' ')
  return shown.length < text.length ? `${flat}...` : flat
}
