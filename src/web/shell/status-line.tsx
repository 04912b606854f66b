/** The last line of the page: whether the server is there and what it is doing, so that nothing that is missing looks like nothing. */
import { connection, retryNow } from '../live.ts'
import { health, trouble } from '../state/health.ts'
import { oneLine, visible } from '../text/visible.ts'
import { Button } from '../ui/button.tsx'
import { exactCount, shortBytes } from '../ui/numbers.ts'

export function StatusLine() {
  const isGone = connection.value === 'gone' || connection.value === 'refused'
  return (
    <footer class={`shell-status ${isGone ? 'is-gone' : ''}`} aria-label="Status">
      <span role="status">
        <Doing />
      </span>
      {isGone && (
        <Button kind="plain" onClick={retryNow}>
          Try now
        </Button>
      )}
      <Progress />
      <About />
    </footer>
  )
}

function Doing() {
  if (connection.value === 'gone')
    return <>The server is gone. What is shown may be old; the page goes on when it is back.</>
  if (connection.value === 'refused')
    return <>The server does not know this browser. Open the address that hansard serve prints.</>
  if (health.value === undefined) return <>Connecting …</>
  const { syncing, indexing } = health.value
  if (trouble.value !== undefined) return <>{visible(oneLine(trouble.value, 200))}</>
  if (syncing !== undefined) return <>Syncing: {visible(oneLine(syncing.doing, 80))}</>
  if (indexing !== undefined) return <>Indexing for search; searches read what is not yet in it</>
  return <>Live</>
}

function Progress() {
  const { syncing, indexing } = health.value ?? {}
  if (syncing?.of !== undefined && syncing.of > 0)
    return <progress aria-label="Sync" max={syncing.of} value={syncing.done} />
  if (indexing === undefined || indexing.of === 0) return null
  return (
    <>
      <progress aria-label="Indexing" max={indexing.of} value={indexing.bytes} />
      <span class="numbers">
        {shortBytes(indexing.bytes)} of {shortBytes(indexing.of)}
      </span>
    </>
  )
}

function About() {
  if (health.value === undefined) return null
  const { sessions, home, readOnly, version } = health.value
  return (
    <span class="shell-status-end clip" title={`${visible(home)}\nHansard ${version}`}>
      {exactCount(sessions)} sessions{readOnly ? ' · read-only' : ''}
    </span>
  )
}
