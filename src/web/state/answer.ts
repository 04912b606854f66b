/**
 * One question and its answer for as long as a view shows it. Asked again when the key changes, after a break, and, with `when`, soon
 * after a session changed that matters; the answer before stays until the next is there.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SessionRow } from '../../server/api-model.ts'
import type { Answer, Problem } from '../api.ts'
import { on } from '../live.ts'

export type Asked<T> = {
  readonly value?: T
  readonly problem?: Problem
  readonly isBusy: boolean
  readonly again: () => void
}

/** Changes that come together are asked about once. What is summed over the whole archive waits longer: each answer costs more. */
const PAUSE_MS = 1500
export const LONG_PAUSE_MS = 10_000

export function useAnswer<T>(
  key: string,
  question: (options: { readonly signal: AbortSignal }) => Promise<Answer<T>>,
  when?: (row: SessionRow) => boolean,
  { pauseMs = PAUSE_MS }: { readonly pauseMs?: number } = {},
): Asked<T> {
  const [state, setState] = useState<{
    readonly key: string
    readonly value?: T
    readonly problem?: Problem
  }>()
  const [isBusy, setBusy] = useState(true)
  const [turn, setTurn] = useState(0)
  const latest = useRef({ question, when })
  latest.current = { question, when }
  const again = (): void => setTurn((before) => before + 1)
  useEffect(() => {
    const abort = new AbortController()
    setBusy(true)
    void latest.current.question({ signal: abort.signal }).then((answer) => {
      if (abort.signal.aborted) return
      setBusy(false)
      setState(answer.ok ? { key, value: answer.value } : { key, problem: answer.problem })
    })
    return () => abort.abort()
  }, [key, turn])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        again()
      }, pauseMs)
    }
    const ends = [
      on('reset', soon),
      on('session', ({ row }) => {
        if (latest.current.when?.(row) === true) soon()
      }),
    ]
    return () => {
      clearTimeout(timer)
      for (const end of ends) end()
    }
  }, [])
  // What was answered to another question is shown for a moment, but not its problem.
  const { value, problem } = state ?? {}
  return {
    ...(value !== undefined && { value }),
    ...(problem !== undefined && state?.key === key && { problem }),
    isBusy,
    again,
  }
}
