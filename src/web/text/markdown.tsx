/** Markdown drawn with text nodes: see markdown.ts. Long texts come a part at a time. */
import { useMemo, useState } from 'preact/hooks'
import { isAlone } from '../api.ts'
import { Button } from '../ui/button.tsx'
import { exactCount } from '../ui/numbers.ts'
import { Visible } from '../ui/visible.tsx'
import { Code } from './code.tsx'
import { cutMarkdown, MARKDOWN_PART, toMarkdown, type MdNode, type MdNodes } from './markdown.ts'
import { oneLine, visible } from './visible.ts'

const MOST_ROWS = 100
const MOST_CELLS = 40

export function Markdown({ text }: { readonly text: string }) {
  const [parts, setParts] = useState(1)
  const ends = useMemo(() => {
    const found: number[] = []
    while (found.length < parts) {
      const from = found.at(-1) ?? 0
      if (from >= text.length && found.length > 0) break
      found.push(from + cutMarkdown(text.slice(from, from + MARKDOWN_PART * 2)))
    }
    return found
  }, [text, parts])
  const rest = text.length - (ends.at(-1) ?? 0)
  return (
    <div class="md">
      {ends.map((end, at) => (
        <Part key={at} text={text.slice(ends[at - 1] ?? 0, end)} />
      ))}
      {rest > 0 && (
        <Button class="more" onClick={() => setParts(parts + 1)}>
          Show more ({exactCount(rest)} characters)
        </Button>
      )}
    </div>
  )
}

function Part({ text }: { readonly text: string }) {
  return <Nodes nodes={useMemo(() => toMarkdown(text), [text])} />
}

function Nodes({ nodes }: { readonly nodes: MdNodes }) {
  return (
    <>
      {nodes.map((node, at) => (
        <Node key={at} node={node} />
      ))}
    </>
  )
}

function Node({ node }: { readonly node: MdNode }) {
  switch (node.type) {
    case 'text':
      return <Visible text={node.text} />
    case 'plain':
      return (
        <p class="md-plain">
          <Visible text={node.text} />
        </p>
      )
    case 'codespan':
      return (
        <code>
          <Visible text={node.text} />
        </code>
      )
    case 'code':
      return <Code text={node.text} {...(node.lang !== undefined && { lang: node.lang })} />
    case 'paragraph':
      return (
        <p>
          <Nodes nodes={node.children} />
        </p>
      )
    case 'quote':
      return (
        <blockquote>
          <Nodes nodes={node.children} />
        </blockquote>
      )
    case 'strong':
      return (
        <strong>
          <Nodes nodes={node.children} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <Nodes nodes={node.children} />
        </em>
      )
    case 'del':
      return (
        <del>
          <Nodes nodes={node.children} />
        </del>
      )
    case 'heading':
      // Headings of a transcript are no headings of the page.
      return (
        <p class={`md-heading is-${node.depth}`}>
          <Nodes nodes={node.children} />
        </p>
      )
    case 'list':
      return <List node={node} />
    case 'table':
      return <MdTable node={node} />
    case 'link':
      return <Link node={node} />
    case 'image':
      return <Image node={node} />
    case 'hr':
      return <hr />
    case 'br':
      return <br />
  }
}

type Of<T extends MdNode['type']> = { readonly node: Extract<MdNode, { readonly type: T }> }

function List({ node }: Of<'list'>) {
  const items = node.items.map(({ value, checked, children }, at) => (
    <li key={at} {...(value !== undefined && { value })} class={checked === undefined ? '' : 'is-task'}>
      {checked !== undefined && (
        <span role="img" aria-label={checked ? 'done' : 'not done'}>
          {checked ? '☑ ' : '☐ '}
        </span>
      )}
      <Nodes nodes={children} />
    </li>
  ))
  return node.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>
}

function MdTable({ node: { header, rows } }: Of<'table'>) {
  const [most, setMost] = useState(MOST_ROWS)
  const [wide, setWide] = useState(MOST_CELLS)
  const hidden = rows.length - most
  return (
    <div class="md-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.slice(0, wide).map((cell, at) => (
              <th key={at} scope="col">
                <Nodes nodes={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row, at) => (
            <tr key={at}>
              {row.slice(0, wide).map((cell, at) => (
                <td key={at}>
                  <Nodes nodes={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {hidden > 0 && (
        <Button class="more" onClick={() => setMost(most * 4)}>
          Show more rows ({exactCount(hidden)})
        </Button>
      )}
      {header.length > wide && (
        <Button class="more" onClick={() => setWide(wide * 4)}>
          Show more columns ({exactCount(header.length - wide)})
        </Button>
      )}
    </div>
  )
}

/** Where a link leads is always seen: its text may say something else. */
function Link({ node: { href, target, children } }: Of<'link'>) {
  const [only] = children
  const text = children.length === 1 && only?.type === 'text' ? only.text : undefined
  const isSaid =
    text !== undefined && (text === target || `mailto:${text}` === target || `http://${text}` === target)
  const shown = visible(oneLine(target, 200))
  // A file that was given away leads nowhere.
  if (href === undefined || isAlone)
    return (
      <span class="md-target">
        <Nodes nodes={children} />
        {!isSaid && <span class="quiet"> ({shown})</span>}
      </span>
    )
  return (
    <>
      <a href={href} target="_blank" rel="noreferrer noopener nofollow" title={shown}>
        <Nodes nodes={children} />
      </a>
      {!isSaid && <span class="quiet md-host"> ({shown})</span>}
    </>
  )
}

function Image({ node: { alt, target, data } }: Of<'image'>) {
  if (data !== undefined) return <img class="picture" src={data} alt={alt} loading="lazy" />
  const href = target.length < 2000 ? target : `${target.slice(0, 100)}…`
  return (
    <span class="md-picture">
      <span aria-hidden="true">🖼 </span>
      <Visible text={alt === '' ? 'picture' : alt} />{' '}
      <span class="quiet">(not loaded: {visible(oneLine(href, 200))})</span>
    </span>
  )
}
