/**
 * What still has to be said when a process ends with sessions open: their last lines, synced, and their formats' files.
 * Handlers stand only while a session is open, and a signal keeps its meaning: when nobody else listens to it, the process dies of it.
 */
type Terminable = { terminate(): void; flushSync(): void }

/** Shared by all copies of this package in the process: two that each waited for the other would swallow the signal. */
type Registry = {
  readonly open: Set<Terminable>
  readonly onExit: () => void
  readonly onSignal: (signal: NodeJS.Signals) => void
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
const KEY = Symbol.for('hansard.termination')
/** Where the library signal-exit keeps its own: it listens only to pass a signal on, as we do. */
const SIGNAL_EXIT = Symbol.for('signal-exit emitter')

/** Ends the session when the process does. Gives the function that takes it off the list. */
export function onTermination(session: Terminable): () => void {
  const registry = shared()
  if (registry.open.size === 0) listen(registry)
  registry.open.add(session)
  return () => {
    registry.open.delete(session)
    if (registry.open.size === 0) stopListening(registry)
  }
}

/** What is recorded so far would survive a power cut when this returns. */
export function flushOpen(): void {
  for (const session of shared().open) session.flushSync()
}

function shared(): Registry {
  const scope = globalThis as { [KEY]?: Registry }
  scope[KEY] ??= createRegistry()
  return scope[KEY]
}

function createRegistry(): Registry {
  const open = new Set<Terminable>()
  const onExit = (): void => {
    for (const session of open) session.terminate()
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    if (process.listenerCount(signal) > 1 + politeListeners()) {
      // The program has a handler of its own and may go on: what is recorded is made safe, the sessions stay open.
      for (const session of open) session.flushSync()
      return
    }
    onExit()
    open.clear()
    stopListening(registry)
    process.kill(process.pid, signal)
  }
  const registry: Registry = { open, onExit, onSignal }
  return registry
}

function politeListeners(): number {
  const emitter = (globalThis as { [SIGNAL_EXIT]?: { readonly count?: number } })[SIGNAL_EXIT]
  return emitter === undefined ? 0 : Math.max(1, emitter.count ?? 1)
}

function listen({ onExit, onSignal }: Registry): void {
  process.on('exit', onExit)
  // Before all others: one that listens once is gone when it has been called, and would not be counted.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal)
}

function stopListening({ onExit, onSignal }: Registry): void {
  process.off('exit', onExit)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}
