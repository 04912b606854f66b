/** A list of things to do, as an agent keeps it: what is done, what is being done, what is left. */
import { Visible } from '../../ui/visible.tsx'

export type Todo = { readonly text: string; readonly status: 'completed' | 'in_progress' | 'pending' }

const MOST = 200
const STATES = {
  completed: ['✓', 'done'],
  in_progress: ['▸', 'being done'],
  pending: ['○', 'to do'],
} as const

/** Undefined for what is another kind of list: all of that would be lost here. */
export function todosOf(list: unknown): readonly Todo[] | undefined {
  if (!Array.isArray(list) || list.length === 0 || list.length > MOST) return undefined
  const todos = list.map(todoOf)
  return todos.every((todo) => todo !== undefined) ? todos : undefined
}

function todoOf(item: unknown): Todo | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { status, content, step, title } = item as { readonly [key: string]: unknown }
  const text = [content, step, title].find((one) => typeof one === 'string')
  if (text === undefined || typeof status !== 'string' || !Object.hasOwn(STATES, status)) return undefined
  return { text, status: status as Todo['status'] }
}

export function Todos({ todos }: { readonly todos: readonly Todo[] }) {
  return (
    <ul class="todos">
      {todos.map(({ text, status }, at) => (
        <li key={at} class={`is-${status}`}>
          <span aria-hidden="true">{STATES[status][0]}</span>
          <span class="unseen">{STATES[status][1]}: </span>
          <span>
            <Visible text={text} />
          </span>
        </li>
      ))}
    </ul>
  )
}
