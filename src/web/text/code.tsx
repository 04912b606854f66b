/** Code, in colours when its language is known, with a button to copy it. */
import { useEffect, useState } from 'preact/hooks'
import { CopyButton } from '../ui/copy.tsx'
import { Visible } from '../ui/visible.tsx'
import { highlight, type CodeToken } from './highlight.ts'
import { visible } from './visible.ts'

export function Code({
  text,
  lang = '',
  isBare = false,
  numbers,
}: {
  readonly text: string
  readonly lang?: string
  readonly isBare?: boolean
  /** Of its lines, one below the other. */
  readonly numbers?: string
}) {
  const [tokens, setTokens] = useState<{ readonly of: string; readonly tokens: readonly CodeToken[] }>()
  useEffect(() => {
    let isWanted = true
    if (lang !== '')
      void highlight(text, lang)
        .then((found) => isWanted && found !== undefined && setTokens({ of: text, tokens: found }))
        // Without colours it is still the code.
        .catch(() => {})
    return () => void (isWanted = false)
  }, [text, lang])
  return (
    <div class="code">
      {!isBare && (
        <div class="code-head">
          <span class="quiet">{visible(lang.slice(0, 40))}</span>
          <CopyButton text={() => text} label="Copy code" />
        </div>
      )}
      <pre tabIndex={0} class={numbers === undefined ? '' : 'is-numbered'}>
        {numbers !== undefined && (
          <span class="code-numbers" aria-hidden="true">
            {numbers}
          </span>
        )}
        <code>
          {tokens?.of === text ? (
            tokens.tokens.map(({ text, scope }, at) => (
              <span key={at} class={scope === undefined ? '' : `hl-${scope.split(/[.:]/, 1)[0]}`}>
                <Visible text={text} />
              </span>
            ))
          ) : (
            <Visible text={text} />
          )}
        </code>
      </pre>
    </div>
  )
}
