/**
 * What still has to be said when a process ends with sessions open: their last lines, synced, and their formats' files.
 * Handlers stand only while a session is open, and a signal keeps its meaning: when nobody else listens to it, the process dies of it.
 */
type Terminable = { terminate(): void; flushSync(): void }

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

const open = new Set<Terminable>()

/** Ends the session when the process does. Gives the function that takes it off the list. */
export function onTermination(session: Terminable): () => void {
  if (open.size === 0) listen()
  open.add(session)
  return () => {
    open.delete(session)
    if (open.size === 0) stopListening()
  }
}

function listen(): void {
  process.on('exit', terminateAll)
  for (const signal of SIGNALS) process.on(signal, onSignal)
}

function stopListening(): void {
  process.off('exit', terminateAll)
  for (const signal of SIGNALS) process.off(signal, onSignal)
}

function terminateAll(): void {
  for (const session of open) session.terminate()
}

function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) {
    // The program has a handler of its own and may go on: what is recorded is made safe, the sessions stay open.
    for (const session of open) session.flushSync()
    return
  }
  terminateAll()
  open.clear()
  stopListening()
  process.kill(process.pid, signal)
}
