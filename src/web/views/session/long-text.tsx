/**
 * A text of any length in parts, of which one is on the page: each is asked for when somebody turns to it, so that fifty megabytes take
 * no more room than one part. The whole is to be had as a file.
 */
import { useEffect, useState } from 'preact/hooks'
import type { TextAnswer } from '../../../server/api.ts'
import { ask, textUrl, type Problem } from '../../api.ts'
import { Ansi } from '../../text/ansi.tsx'
import { Button } from '../../ui/button.tsx'
import { ErrorNote, Spinner } from '../../ui/notes.tsx'
import { exactCount, shortBytes } from '../../ui/numbers.ts'

/** Characters. */
const PART = 128_000

export type LongTextProps = {
  readonly id: string
  readonly position: number
  /** Of the field in the entry. */
  readonly path: string
  readonly bytes: number
}

export function LongText({ id, position, path, bytes }: LongTextProps) {
  const [part, setPart] = useState<number>()
  const [found, setFound] = useState<TextAnswer>()
  const [problem, setProblem] = useState<Problem>()
  useEffect(() => {
    if (part === undefined) return undefined
    const abort = new AbortController()
    setProblem(undefined)
    const range = { from: String(part * PART), to: String((part + 1) * PART) }
    void ask.text(id, position, { path, ...range }, { signal: abort.signal }).then((answer) => {
      if (answer.ok) setFound(answer.value)
      else if (answer.problem.code !== 'aborted') setProblem(answer.problem)
    })
    return () => abort.abort()
  }, [id, position, path, part])
  const file = (
    <a href={textUrl(id, position, path)} download>
      Download
    </a>
  )
  if (part === undefined)
    return (
      <p class="output-more">
        <Button class="more" onClick={() => setPart(0)}>
          Show all ({shortBytes(bytes)})
        </Button>
        {file}
      </p>
    )
  const count = found === undefined ? undefined : Math.max(1, Math.ceil(found.length / PART))
  // A part may begin behind the half of a pair.
  const isThere = found !== undefined && Math.abs(found.from - part * PART) <= 1
  return (
    <div class="long-text">
      <p class="output-more">
        <span class="numbers" aria-live="polite">
          Part {exactCount(part + 1)}
          {count !== undefined && ` of ${exactCount(count)}`}
        </span>
        <Button disabled={part === 0} onClick={() => setPart(0)}>
          First
        </Button>
        <Button disabled={part === 0} onClick={() => setPart(part - 1)}>
          Previous
        </Button>
        <Button disabled={part + 1 >= (count ?? 0)} onClick={() => setPart(part + 1)}>
          Next
        </Button>
        <Button disabled={part + 1 >= (count ?? 0)} onClick={() => setPart((count ?? 1) - 1)}>
          Last
        </Button>
        {file}
      </p>
      {problem !== undefined && <ErrorNote problem={problem} />}
      {!isThere && problem === undefined && <Spinner says={`Reading ${shortBytes(bytes)} …`} />}
      {isThere && (
        <div class="output" tabIndex={0} role="group" aria-label={`Part ${part + 1}`}>
          <pre>
            <Ansi text={found.text} />
          </pre>
        </div>
      )}
    </div>
  )
}
