/**
 * The library's front door: `const session = await record({ agent: 'mine', formats: ['entire'] })`.
 *
 * What is recorded is redacted, then in the journal, then in the formats' files, in that order and before the call returns. The
 * end too: first how the session ended, then the formats' last files, then the journal's last line. Only bad arguments throw, and
 * only here; from then on recording never breaks the agent.
 */
import { resolve } from 'node:path'
import { openArchive, type Archive } from '../archive/archive.ts'
import { createTotals } from '../archive/priced-totals.ts'
import { recoverSession } from '../archive/recover.ts'
import { messageOf } from '../errors.ts'
import { formats } from '../formats/index.ts'
import { findWritten } from '../formats/written-format.ts'
import type { Files } from '../journal/files.ts'
import { openJournal, type Durability, type JournalWriter } from '../journal/writer.ts'
import { createRedactor } from '../redact/redactor.ts'
import { PRIMARY, type Entry } from '../transcript/entry.ts'
import { fromMillis } from '../transcript/instant.ts'
import type { Json } from '../transcript/json.ts'
import type { Session, Status } from '../transcript/session.ts'
import { VERSION } from '../version.ts'
import type { WireMessage } from '../wire/message.ts'
import { openAside, type UnfinishedAnswer } from './aside.ts'
import { createDoor } from './door.ts'
import { createSession, type Identity } from './identity.ts'
import { checkUmask, createLiveFormats, type Umask } from './live-formats.ts'
import { addUsd } from './reported-cost.ts'
import { createReporter, type Failure, type Reporter } from './report.ts'
import { createSourceRecorder, type SourceRecorder } from './recorder.ts'
import { toAnswerDetails } from './said.ts'
import { FACTS, pick, toFacts, type Ending, type Facts } from './session-facts.ts'
import { settledEntry, settledSession } from './settled.ts'
import { sayStub } from './stub.ts'
import { onTermination } from './termination.ts'

export type RecordOptions = Identity & {
  /** The archive; `$HANSARD_HOME` or `~/.hansard` when absent. */
  readonly home?: string
  /** The session's working directory, where formats put their files; null where nobody knows it: they go where we are. */
  readonly cwd?: string | null
  /** Formats to write as the session goes: `['devflow', 'entire']`. */
  readonly formats?: readonly string[]
  /** Where a format's files go instead of the place its seed names: a folder, relative to `cwd`, which is made. */
  readonly roots?: Readonly<Record<string, string>>
  /** Who may read the formats' files: `owner` (the default) only their owner, `system` whoever the umask lets. */
  readonly umask?: Umask
  /** What is captured: weakincentives' switches. Subagents one level deep unless said otherwise. */
  readonly capture?: { readonly transcript?: boolean; readonly subagents?: boolean | number | 'all' }
  readonly durability?: Durability
  /** On unless false. */
  readonly redact?: boolean
  /** Secrets to take out wherever they occur, beside those found by rule. */
  readonly secrets?: readonly string[]
  /** Told once when recording fails and once when it works again; a line on stderr when absent. */
  readonly onFailure?: (failure: Failure) => void
  /** With `stub`: what the step is for, as a stub's prompt says it. */
  readonly stepRole?: string
  /** For formats that write local time. */
  readonly timeZone?: string
  readonly files?: Files
  readonly now?: () => number
}

export type Recorder = SourceRecorder & {
  readonly id: string
  /** The facts so far; after the end, the totals too. */
  session(): Session
  /** What somebody else says it cost, in US dollars: kept beside what we compute, never added to it. */
  addCost(usd: string | number): void
  /** Facts learnt on the way: a title, the model. */
  update(facts: Facts): void
  /** Keeps a line beside the session, if the redactor finds nothing in the words that it says. `cut`: the last of them, where they broke off. */
  aside(words: readonly string[], line: string, cut?: string): boolean
  /** Keeps a value beside the session, without what the redactor finds in it. */
  asideRedacted(value: Json): boolean
  /**
   * What has come of answers that still come, in place of what was said before. It is read where the recorder dies before they are
   * recorded.
   */
  unfinished(answers: readonly Unfinished[]): void
  /** True when everything recorded so far would survive a power cut; false when the disk would not have it. */
  flush(): Promise<boolean>
  end(ending?: Ending): Promise<Session>
  fail(error: unknown, ending?: Ending): Promise<Session>
  cancel(reason?: string, ending?: Ending): Promise<Session>
  /** What was recorded stopped before it had come to an end. */
  interrupt(reason?: string, ending?: Ending): Promise<Session>
}

/** An answer that is still coming, of a call that a `call-started` of this session names. */
export type Unfinished = { readonly call: string; readonly message: WireMessage }

export async function record(options: RecordOptions = {}): Promise<Recorder> {
  const { now = Date.now, capture = {}, files } = options
  const chosen = (options.formats ?? []).map((id) => findWritten(id, formats))
  const umask = checkUmask(options.umask)
  const cwd = resolve(options.cwd ?? process.cwd())
  const report = createReporter(options.onFailure)
  const begun = createSession(options, options.cwd === null ? undefined : cwd, now(), `hansard/${VERSION}`)
  const archive = openArchive(options.home, {
    write: true,
    ...(files && { files }),
    onFailure: report.failed,
  })
  const redactor =
    options.redact === false
      ? undefined
      : createRedactor({
          key: archive.redactionKey(),
          env: process.env,
          values: namedSecrets(options.secrets),
        })
  const door = createDoor(redactor, archive.blobs)

  let session = settledSession(door.session(begun))
  let ended: Promise<Session> | undefined
  let hasEntries = false
  /** Facts that are no longer as the first line has them: the last line restates them, so that both ends of a journal tell all. */
  const changed = new Set<string>()
  const fold = createTotals()
  const instant = (): string => fromMillis(now()) ?? new Date().toISOString()

  const live = createLiveFormats({
    formats: chosen,
    session,
    cwd,
    roots: options.roots ?? {},
    version: VERSION,
    ...(files && { files }),
    umask,
    ...(options.timeZone !== undefined && { timeZone: options.timeZone }),
    onClaim: (format, path, taken) =>
      void journal.append({ t: 'files', format, path, ...(taken && { taken }) }),
    onFailure: (format, error) => report.failed({ what: `the format ${format}`, error }),
  })
  const journal: JournalWriter = openJournal({
    ...(files && { files }),
    folder: archive.sessionFolder(session.id),
    ...(options.durability && { durability: options.durability }),
    first: {
      session: door.facts(session),
      by: `hansard/${VERSION}`,
      ...(live.roots.length > 0 && { formats: door.roots(live.roots) }),
    },
    onFailure: report.journal,
    now,
  })
  const aside = openAside(archive.sessionFolder(session.id), redactor, files)
  try {
    live.start()
  } catch (error) {
    // Another process has started the same run at the same moment: what was begun here says so, and is over.
    journal.append({
      t: 'end',
      session: { status: 'failed', error: messageOf(error) },
      counts: { entries: 0, lines: journal.head().seq + 2 },
      at: fromMillis(now()) as string,
    })
    await journal.close()
    throw error
  }

  const taken = (entry: Entry, isCut?: boolean): void => {
    if (capture.transcript === false) return
    if (ended !== undefined)
      return report.misuse(`session ${session.id} has ended: what is recorded after the end is not kept`)
    hasEntries = true
    const { whole, stored } = door.entry(entry, isCut)
    journal.append({ t: 'entry', entry: stored })
    count(whole)
    // Formats hold entries until a turn or the session ends, and the caller may change its objects meanwhile: they get a copy.
    if (live.roots.length > 0) live.entry(settledEntry(whole))
  }

  const count = report.guard('an entry’s usage', (entry: Entry) => fold.add(entry, session.model))
  const primary = createSourceRecorder({ take: taken, now, depth: toDepth(capture.subagents), report })

  const change = (facts: Partial<Session>): void => {
    if (ended !== undefined) return report.misuse(`session ${session.id} has ended`)
    session = settledSession(door.session({ ...session, ...facts }))
    for (const key of Object.keys(facts)) changed.add(key)
    journal.append({ t: 'update', session: door.facts(pick(session, Object.keys(facts))) })
  }

  /** Says the last word, synchronously: it must also work while the process is going down. */
  const close = (status: Status, facts: Partial<Session>): Session => {
    if (session.stub === true && !hasEntries) sayStub(primary, session, options.stepRole)
    const totals = fold.totals(session.stub)
    const ending: Partial<Session> = {
      status,
      endedAt: instant(),
      ...facts,
      totals,
    }
    session = settledSession(door.session({ ...session, ...ending }))
    journal.append({ t: 'update', session: door.facts(pick(session, Object.keys(ending))) })
    live.end(session)
    const behind = live.behind()
    journal.append({
      t: 'end',
      session: door.facts(pick(session, [...Object.keys(ending), ...changed])),
      counts: { entries: totals.entries, lines: journal.head().seq + 2 },
      ...(behind.length > 0 && { behind }),
      at: instant(),
    })
    return session
  }

  const finish = (status: Status, facts: Partial<Session>): Promise<Session> => {
    if (ended !== undefined) {
      report.misuse(`session ${session.id} has already ended`)
      return ended
    }
    forget()
    let last = session
    report.guard('the end', () => {
      last = close(status, facts)
    })()
    ended = (async () => {
      aside.close()
      const isSafe = await journal.close()
      report.ended({ path: journal.path, isSafe, lost: journal.lost() })
      if (live.behind().length > 0) await catchUp(archive, session.id, report.failed)
      return last
    })()
    return ended
  }

  const forget = onTermination({
    flushSync: report.guard('what is not synced', () => journal.flushSync()),
    terminate: report.guard('the end', () => {
      if (ended !== undefined) return
      const last = close('interrupted', { error: 'the process ended before the session did' })
      ended = Promise.resolve(last)
      journal.closeSync()
    }),
  })

  return {
    ...primary,
    id: session.id,
    session: () => session,
    addCost: report.guard('a cost', (usd: string | number) =>
      change({ reportedCost: addUsd(session.reportedCost, usd) }),
    ),
    update: report.guard('new facts', (facts: Facts) => change(pick(facts, FACTS))),
    aside: (words, line, cut) => ended === undefined && aside.put(words, line, cut),
    asideRedacted: (value) => ended === undefined && aside.putRedacted(value),
    unfinished(answers) {
      if (ended === undefined) aside.unfinished(answers.map((one) => toUnfinished(one, instant())))
    },
    flush: () => journal.flush(),
    end: (ending = {}) => finish('completed', toFacts(ending)),
    fail: (error, ending = {}) =>
      finish('failed', {
        error: error === undefined || error === null ? 'failed without an error' : messageOf(error),
        ...toFacts(ending),
      }),
    cancel: (reason, ending = {}) =>
      finish('canceled', { ...(reason !== undefined && { error: reason }), ...toFacts(ending) }),
    interrupt: (reason, ending = {}) =>
      finish('interrupted', { ...(reason !== undefined && { error: reason }), ...toFacts(ending) }),
  }
}

/** Its place among others is known when it is read. */
function toUnfinished({ call, message }: Unfinished, at: string): UnfinishedAnswer {
  const { metadata, ...details } = toAnswerDetails(message)
  return {
    call,
    entry: {
      id: `${call}-unfinished`,
      source: PRIMARY,
      sequence: 0,
      kind: 'message',
      role: 'assistant',
      at,
      blocks: message.blocks,
      ...details,
      metadata: { ...metadata, call },
    },
  }
}

/** Formats that fell behind are made whole from the journal, which has everything. */
async function catchUp(archive: Archive, id: string, failed: Reporter['failed']): Promise<void> {
  try {
    const { formats } = await recoverSession(archive, id)
    for (const { format, error } of formats)
      if (error !== undefined) failed({ what: `the format ${format}`, error })
  } catch (error) {
    failed({ what: 'the formats', error })
  }
}

function toDepth(subagents: boolean | number | 'all' = 1): number {
  if (subagents === 'all') return Number.POSITIVE_INFINITY
  return typeof subagents === 'number' ? subagents : subagents ? 1 : 0
}

function namedSecrets(secrets: readonly string[] = []): { name: string; value: string }[] {
  return secrets.map((value) => ({ name: 'secret', value }))
}
