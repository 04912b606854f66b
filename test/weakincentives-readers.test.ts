/** weakincentives' own code, as its specification prints it, on files that we wrote: it must run unchanged, and print what we print. */
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { record, type Recorder } from '../src/capture/record.ts'
import { recording } from '../src/capture/wrap/recording.ts'
import { convertClaudeTranscriptEntry } from '../src/formats/weakincentives-claude.ts'
import type { TranscriptEntry } from '../src/formats/weakincentives-entry.ts'
import { formatTranscript } from '../src/sources/transcript-text.ts'
import type { JsonObject } from '../src/transcript/json.ts'
import { run } from './program.ts'
import { bodyOf, chatAnswer, startUpstream, type Upstream } from './wrap-upstream.ts'

const PYTHON = `
import json, sys
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Iterable, Literal
from uuid import UUID, uuid4

UTC = timezone.utc

TranscriptRole = Literal["system", "user", "assistant", "tool"]

@dataclass(frozen=True)
class TranscriptEntry:
    role: TranscriptRole
    content: str
    created_at: datetime
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_input: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    entry_id: UUID = field(default_factory=uuid4)
    source: str = "primary"
    sequence: int = 0

def format_transcript(entries: Iterable[TranscriptEntry]) -> str:
    """Format transcript entries for human reading."""
    lines = []
    for entry in entries:
        timestamp = entry.created_at.strftime("%H:%M:%S")
        source_prefix = f"[{entry.source}] " if entry.source != "primary" else ""

        if entry.role == "tool":
            header = f"{source_prefix}[{timestamp}] 🔧 {entry.tool_name}"
        else:
            role_emoji = {"system": "⚙️", "user": "👤", "assistant": "🤖"}
            header = f"{source_prefix}[{timestamp}] {role_emoji.get(entry.role, '•')} {entry.role.upper()}"

        lines.append(header)
        lines.append(entry.content)
        lines.append("")  # Blank line between entries

    return "\\n".join(lines)

def _convert_claude_transcript_entry(raw, *, source="primary", sequence=0):
    entry_type = raw.get("type", "")
    timestamp_str = raw.get("timestamp", "")
    role_map: dict[str, TranscriptRole] = {
        "user": "user",
        "assistant": "assistant",
        "tool_use": "assistant",  # Tool calls come from assistant
        "tool_result": "tool",
        "system": "system",
    }
    role = role_map.get(entry_type, "assistant")
    content_raw = raw.get("content", "")
    if isinstance(content_raw, dict):
        content = json.dumps(content_raw, indent=2)
    elif isinstance(content_raw, list):
        parts = []
        for block in content_raw:
            if isinstance(block, dict) and "text" in block:
                parts.append(block["text"])
            elif isinstance(block, str):
                parts.append(block)
        content = "\\n".join(parts)
    else:
        content = str(content_raw)
    try:
        created_at = datetime.fromisoformat(timestamp_str.replace("Z", "+00:00"))
    except (ValueError, AttributeError):
        created_at = datetime.now(UTC)
    return TranscriptEntry(
        role=role,
        content=content,
        created_at=created_at,
        tool_name=raw.get("tool_name"),
        tool_call_id=raw.get("tool_use_id"),
        tool_input=raw.get("input") if entry_type == "tool_use" else None,
        metadata={"raw_type": entry_type, "claude_session_id": raw.get("session_id")},
        source=source,
        sequence=sequence,
    )
`

/** The lines of a file as entries: a field that the class lacks, or lacks a value for, is an error. */
const PYTHON_READ = `
entries = []
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        entry = json.loads(line)
        created_at = datetime.fromisoformat(entry.pop("created_at"))
        entry_id = UUID(entry.pop("entry_id"))
        assert entry_id.version == 4
        entries.append(TranscriptEntry(created_at=created_at, entry_id=entry_id, **entry))
assert all(entry.role in ("system", "user", "assistant", "tool") for entry in entries)
print(format_transcript(entries), end="")
`

const PYTHON_CONVERT = `
with open(sys.argv[1], encoding="utf-8") as lines:
    converted = [
        _convert_claude_transcript_entry(json.loads(line), source="subagent:a", sequence=number)
        for number, line in enumerate(lines)
    ]
print(json.dumps([vars(entry) for entry in converted], default=str))
`

let folder: string
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'hansard-wink-'))
})
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }))

/** What a Python program prints; undefined on machines that have no Python. */
function python(program: string, argument: string): string | undefined {
  const path = join(folder, 'readers.py')
  fs.writeFileSync(path, PYTHON + program)
  const env = { ...process.env, PYTHONIOENCODING: 'utf-8' }
  const ran = spawnSync('python3', [path, argument], { encoding: 'utf8', env })
  if (ran.error !== undefined && 'code' in ran.error && ran.error.code === 'ENOENT') return undefined
  expect(ran.status, ran.stderr).toBe(0)
  return ran.stdout
}

const fileIn = (at: string): string =>
  join(at, 'agent_transcripts', 'weakincentives.transcript:TranscriptEntry.jsonl')

function linesOf(path: string): TranscriptEntry[] {
  const lines = fs.readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as TranscriptEntry)
}

/** Its own function, ours, and `hansard show` print the same. */
async function expectPrintedAlike(path: string): Promise<string> {
  const ours = formatTranscript(linesOf(path))
  expect(python(PYTHON_READ, path) ?? ours).toBe(ours)
  const shown = await run(['show', path], { env: { TZ: 'Asia/Tokyo' } })
  expect([shown.stdout, shown.stderr]).toEqual([ours, ''])
  return ours
}

describe('the file of a recorded session', () => {
  const talk = (session: Recorder): void => {
    session.event('call-started', { n: 1 })
    session.system('You are a helpful coding assistant…')
    session.user('修复 “it”\n\nplease now')
    session.error(new Error('overloaded'))
    session.assistant([
      { type: 'thinking', text: 'hm' },
      { type: 'text', text: 'I look.' },
      {
        type: 'tool-call',
        callId: 't1',
        name: 'Read',
        input: { path: 'src/main.py', lines: [1, 2], deep: {} },
      },
    ])
    session.toolResult({ callId: 't1', output: '' })
    session.toolResult({ callId: 'nobody', output: 'whose?' })
    session.subagent('abc123').assistant('Looking at the implementation...')
    session.message('robot' as never, 'x')
    session.assistant('It prints 1.')
  }

  it('is printed alike by format_transcript, by formatTranscript and by show', async () => {
    const said: string[] = []
    const options = { home: join(folder, 'home'), cwd: folder, formats: ['weakincentives'] }
    const session = await record({ ...options, onFailure: ({ message }) => said.push(message) })
    talk(session)
    await session.end()
    const text = await expectPrintedAlike(fileIn(folder))
    expect(text).toContain(
      '🤖 ASSISTANT\n{\n  "path": "src/main.py",\n  "lines": [\n    1,\n    2\n  ],\n  "deep": {}\n}\n',
    )
    expect(text).toContain('🔧 None\nwhose?\n')
    expect(text).not.toMatch(/overloaded|call-started/)
    expect(said).toEqual([expect.stringContaining('there is no role "robot"')])
  })
})

describe('the file of a wrapped client', () => {
  let upstream: Upstream
  beforeEach(async () => void (upstream = await startUpstream()))
  afterEach(() => upstream.close())

  it('has the seed’s order, system, user, assistant with tool_input, tool, assistant, and nothing else', async () => {
    const call = { id: 't1', name: 'Read', arguments: '{"path":"src/main.py"}' }
    const answers = [chatAnswer('c1', null, [call]), chatAnswer('c2', 'It prints 1.')]
    upstream.answer = async (request, response) => {
      await bodyOf(request)
      response.writeHead(200, { 'content-type': 'application/json' }).end(answers.shift())
    }
    const recorded = recording({ home: upstream.home, cwd: folder, formats: ['weakincentives'] })
    const messages: object[] = [
      { role: 'system', content: 'You are a helpful coding assistant...' },
      { role: 'user', content: 'Please review the code in src/main.py' },
    ]
    const ask = async () => {
      const body = JSON.stringify({ model: 'gpt-test', temperature: 0, messages })
      const response = await recorded.fetch(`${upstream.url}/v1/chat/completions`, { method: 'POST', body })
      const { choices } = (await response.json()) as { choices: { message: object }[] }
      messages.push(choices[0]?.message as object)
    }
    await ask()
    messages.push({ role: 'tool', tool_call_id: 't1', content: 'print(1)' })
    await ask()
    await recorded.end()
    await expectPrintedAlike(fileIn(folder))
    expect(
      linesOf(fileIn(folder)).map(({ role, content, tool_name, tool_input }) => [
        role,
        content,
        tool_name,
        tool_input,
      ]),
    ).toEqual([
      ['system', 'You are a helpful coding assistant...', null, null],
      ['user', 'Please review the code in src/main.py', null, null],
      ['assistant', '{\n  "path": "src/main.py"\n}', 'Read', { path: 'src/main.py' }],
      ['tool', 'print(1)', 'Read', null],
      ['assistant', 'It prints 1.', null, null],
    ])
  })
})

describe('lines of Claude', () => {
  const at = { timestamp: '2026-01-05T09:15:32.120Z', session_id: 's1' }
  const raws: readonly JsonObject[] = [
    { ...at, type: 'user', content: 'hi' },
    { ...at, type: 'assistant', content: [{ type: 'text', text: 'a' }, 'b', { type: 'text', text: '' }] },
    { ...at, type: 'tool_use', tool_name: 'Read', tool_use_id: 't1', content: 'reads', input: { path: 'a' } },
    { ...at, type: 'tool_result', tool_name: 'Read', tool_use_id: 't1', content: { ok: [true, null] } },
    { ...at, type: 'system', content: '' },
    { ...at, type: 'novelty', content: null },
    { ...at, type: 'user', content: false },
    { ...at, content: 7 },
    { ...at, type: 'user', content: 'x', timestamp: '2026-01-05T17:15:32+08:00' },
  ]

  it('are converted as its own converter does', () => {
    const path = join(folder, 'raws.jsonl')
    fs.writeFileSync(path, raws.map((raw) => `${JSON.stringify(raw)}\n`).join(''))
    const printed = python(PYTHON_CONVERT, path)
    const ours = raws.map((raw, sequence) =>
      convertClaudeTranscriptEntry(raw, { source: 'subagent:a', sequence }),
    )
    expect(ours).toHaveLength(raws.length)
    if (printed === undefined) return
    const theirs = JSON.parse(printed) as TranscriptEntry[]
    // The instant, however it is spelled; ids are random there.
    const comparable = (entry: TranscriptEntry) => ({
      ...entry,
      created_at: Date.parse(entry.created_at),
      entry_id: '',
    })
    expect(ours.map(comparable)).toEqual(theirs.map(comparable))
  })
})
