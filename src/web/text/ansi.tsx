/** A program's output as a terminal shows it. Colours come by class, those beyond the sixteen by the element's own style. */
import { useMemo } from 'preact/hooks'
import { Visible } from '../ui/visible.tsx'
import { paletteColour, toAnsi, type AnsiStyle } from './ansi.ts'

/** Characters that are gone through; of longer output the rest is as it is. */
const MOST = 1_000_000

export function Ansi({ text }: { readonly text: string }) {
  const spans = useMemo(() => toAnsi(text.slice(0, MOST)), [text])
  return (
    <>
      {spans.map(({ text: part, style }, at) =>
        style === undefined ? (
          <Visible key={at} text={part} />
        ) : (
          <span key={at} class={classOf(style)} style={styleOf(style)}>
            <Visible text={part} />
          </span>
        ),
      )}
      {text.length > MOST && <Visible text={text.slice(MOST)} />}
    </>
  )
}

const FLAGS = ['bold', 'dim', 'italic', 'underline', 'strike', 'inverse'] as const

function classOf(style: AnsiStyle): string {
  const { fg, bg } = style
  return [
    ...FLAGS.filter((name) => style[name]).map((name) => `ansi-${name}`),
    ...(typeof fg === 'number' && fg < 16 ? [`ansi-fg-${fg}`] : []),
    ...(typeof bg === 'number' && bg < 16 ? [`ansi-bg-${bg}`] : []),
    // On a ground of its own colour text of the page's colour may vanish.
    ...(bg !== undefined && fg === undefined ? ['ansi-on'] : []),
  ].join(' ')
}

function styleOf({ fg, bg }: AnsiStyle): { readonly [name: string]: string } {
  return {
    ...(isOwn(fg) && { color: colour(fg) }),
    ...(isOwn(bg) && { backgroundColor: colour(bg) }),
  }
}

const isOwn = (value: number | string | undefined): value is number | string =>
  typeof value === 'string' || (typeof value === 'number' && value >= 16)
const colour = (value: number | string): string => (typeof value === 'string' ? value : paletteColour(value))
