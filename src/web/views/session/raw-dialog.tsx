/** The record that an entry was read from, as it lies in its file, with its place; and the entry as the model has it. */
import { useEffect, useState } from 'preact/hooks'
import type { EntryRow, RawAnswer } from '../../../server/api.ts'
import { ask, type Problem } from '../../api.ts'
import { Code } from '../../text/code.tsx'
import { visible } from '../../text/visible.ts'
import { CopyButton } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { ErrorNote, Spinner } from '../../ui/notes.tsx'
import { exactCount, shortBytes } from '../../ui/numbers.ts'
import { Tabs } from '../../ui/tabs.tsx'
import { Output } from './output.tsx'
import { pretty } from './pretty.ts'

export type RawProps = {
  readonly id: string
  readonly position: number
  readonly row: EntryRow | undefined
  readonly onClose: () => void
}

export function RawDialog({ id, position, row, onClose }: RawProps) {
  const [raw, setRaw] = useState<RawAnswer>()
  const [problem, setProblem] = useState<Problem>()
  const [tab, setTab] = useState<'record' | 'entry'>('record')
  useEffect(() => {
    const abort = new AbortController()
    void ask.raw(id, position, { signal: abort.signal }).then((answer) => {
      if (answer.ok) setRaw(answer.value)
      else setProblem(answer.problem)
    })
    return () => abort.abort()
  }, [id, position])
  return (
    <Dialog title={`Entry ${position}`} onClose={onClose}>
      <Tabs
        label="What is shown"
        tabs={[
          { name: 'record' as const, says: 'As it lies' },
          { name: 'entry' as const, says: 'As it was read' },
        ]}
        selected={tab}
        onSelect={setTab}
      >
        {tab === 'record' ? (
          <Record raw={raw} problem={problem} />
        ) : (
          <>
            {row?.entry.origin !== undefined && <Place {...row.entry.origin} />}
            <Code text={pretty(row?.entry)} lang="json" />
          </>
        )}
      </Tabs>
    </Dialog>
  )
}

function Record({
  raw,
  problem,
}: {
  readonly raw: RawAnswer | undefined
  readonly problem: Problem | undefined
}) {
  if (problem !== undefined) return <ErrorNote problem={problem} />
  if (raw === undefined) return <Spinner />
  return (
    <div class="raw">
      <Place {...raw} />
      <p class="raw-tools">
        <CopyButton text={() => raw.text} label="Copy the record" />
        {raw.cut !== undefined && <span class="quiet">the first part of {shortBytes(raw.cut)}</span>}
      </p>
      {raw.text.length < 30_000 && isJson(raw.text) ? (
        <Code text={pretty(JSON.parse(raw.text))} lang="json" isBare />
      ) : (
        <Output text={raw.text} label="Record" />
      )}
    </div>
  )
}

type PlaceProps = Pick<RawAnswer, 'file' | 'byteOffset' | 'byteLength'>

function Place({ file, byteOffset, byteLength }: PlaceProps) {
  return (
    <dl class="raw-place">
      <dt>File</dt>
      <dd class="mono">{visible(file)}</dd>
      <dt>Place</dt>
      <dd>
        {exactCount(byteLength)} bytes from byte {exactCount(byteOffset)}
      </dd>
    </dl>
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
