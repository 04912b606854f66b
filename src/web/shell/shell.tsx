/** What stands around every view: where one can go, how it looks, what the server is doing. */
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks'
import { ask } from '../api.ts'
import { listenToKeys, useKeys } from '../keys.ts'
import { connect, noticeGone, whenBack } from '../live.ts'
import { href, listenToLinks, navigate, route, setParams, type Route, type ViewName } from '../router.ts'
import { announce, announced } from '../state/announce.ts'
import { followHealth } from '../state/health.ts'
import { nextTheme } from '../state/theme.ts'
import { ErrorNote, Spinner } from '../ui/notes.tsx'
import { Help } from './help.tsx'
import { BrandIcon } from './icons.tsx'
import { StatusLine } from './status-line.tsx'
import { ShellTools } from './tools.tsx'
import { LOAD, VIEW_NAMES, type View } from './views.ts'

const NAV: readonly ViewName[] = ['sessions', 'runs', 'cost', 'insight']

export function Shell() {
  const [isHelp, setHelp] = useState(false)
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    const ends = [listenToLinks(), listenToKeys(), connect(), followHealth()]
    return () => {
      for (const end of ends) end()
    }
  }, [])
  const go = (view: ViewName) => (): void => navigate({ view })
  useKeys('Everywhere', [
    { keys: ['?'], says: 'Show the keys', run: () => setHelp(true) },
    { keys: ['g s'], says: 'Go to Sessions', run: go('sessions') },
    { keys: ['g r'], says: 'Go to Runs', run: go('runs') },
    { keys: ['g c'], says: 'Go to Cost', run: go('cost') },
    { keys: ['g i'], says: 'Go to Insight', run: go('insight') },
    { keys: ['L'], says: 'Light, dark, or as the system has it', run: nextTheme },
  ])
  const { view } = route.value
  const current = view === 'session' || view === 'diff' ? 'sessions' : view
  return (
    <div class="shell">
      <header class="shell-head">
        <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
          Skip to content
        </a>
        <a class="brand" href="/" aria-label="Hansard">
          <BrandIcon />
          <span class="brand-name">Hansard</span>
        </a>
        <nav class="shell-nav" aria-label="Views">
          {NAV.map((name) => (
            <a key={name} href={href({ view: name })} {...(name === current && { 'aria-current': 'page' })}>
              {VIEW_NAMES[name]}
            </a>
          ))}
        </nav>
        <ShellTools onHelp={() => setHelp(true)} />
      </header>
      <main class="shell-main" id="main" tabIndex={-1} ref={main}>
        <CurrentView />
      </main>
      <StatusLine />
      <div class="unseen" aria-live="polite">
        {announced.value}
      </div>
      {isHelp && <Help onClose={() => setHelp(false)} />}
    </div>
  )
}

/** `?at=` names an entry by its citation, as searches find it; its position takes the place of it once that is known. */
function useCitation(now: Route): void {
  const { view, id } = now
  const citation = now.params.get('at')
  useEffect(() => {
    // `session#12`, or `session#subagent:x/12`.
    const [, source, sequence] = /#(?:(.+)\/)?(\d+)$/.exec(citation ?? '') ?? []
    if (view !== 'session' || id === undefined || sequence === undefined) return undefined
    const query = { sequence, ...(source !== undefined && { source }) }
    const mine = new AbortController()
    void ask.position(id, query, { signal: mine.signal }).then((answer) => {
      if (mine.signal.aborted) return
      setParams({ at: undefined }, answer.ok ? { position: answer.value.position } : {})
      if (!answer.ok) announce(`The entry was not found: ${answer.problem.message}`)
    })
    return () => mine.abort()
  }, [view, id, citation])
}

type Loaded = { readonly name: ViewName; readonly View?: View; readonly message?: string }

function CurrentView() {
  const [loaded, setLoaded] = useState<Loaded>()
  const [broken, forget] = useErrorBoundary()
  const now = route.value
  const { view: name } = now
  useCitation(now)
  useEffect(() => {
    let isWanted = true
    const set = (next: Loaded): void => void (isWanted && setLoaded(next))
    LOAD[name]().then(
      (View) => set({ name, View }),
      () => {
        set({ name, message: 'this part of the page could not be loaded' })
        void loadWhenBack(() => isWanted)
      },
    )
    forget()
    document.title = name === 'sessions' ? 'Hansard' : `${VIEW_NAMES[name]} · Hansard`
    return () => void (isWanted = false)
  }, [name, now.id])
  if (broken !== undefined) {
    const message = `this view failed: ${broken instanceof Error ? broken.message : String(broken)}`
    return <ErrorNote problem={{ code: 'unexpected', message }} onRetry={forget} />
  }
  if (loaded?.name !== name || (loaded.View === undefined && loaded.message === undefined))
    return (
      <div class="shell-loading">
        <Spinner />
      </div>
    )
  const { View, message = '' } = loaded
  if (View === undefined)
    return (
      <ErrorNote
        problem={{ code: 'unexpected', message, hint: 'the server may be gone, or a newer one' }}
        onRetry={() => location.reload()}
      />
    )
  return <View route={now} />
}

/** Browsers do not ask again for a script that they did not get: when the server is back, all of the page is loaded anew, once. */
async function loadWhenBack(isWanted: () => boolean): Promise<void> {
  noticeGone()
  await whenBack()
  if (!isWanted() || Date.now() - lastReload() < AGAIN_MS) return
  try {
    sessionStorage.setItem(RELOADED, String(Date.now()))
    location.reload()
  } catch {
    // Without a place to note it, it would be done without end: there is a button.
  }
}

const RELOADED = 'hansard-reloaded'
/** Sooner than this it was of no use. */
const AGAIN_MS = 30_000

function lastReload(): number {
  try {
    return Number(sessionStorage.getItem(RELOADED) ?? 0)
  } catch {
    return Date.now()
  }
}
