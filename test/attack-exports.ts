/** Attacks by exported files: Markdown that is rendered elsewhere, casts that a player sends to a terminal. */
import { createAsciicast } from '../src/replay/playback/asciicast.ts'
import { createMarkdownView } from '../src/replay/markdown.ts'
import { render } from '../src/replay/view.ts'
import type { Attack } from './attack.ts'
import { tryEach } from './attack.ts'
import { marked, type Token } from 'marked'
import { entry, session } from './replay-entries.ts'

const SCHEMES = [
  'javascript',
  'JaVaScRiPt',
  'vbscript',
  'data',
  'file',
  'smb',
  'ms-msdt',
  'search-ms',
  'blob',
]
const SPELLINGS: readonly ((scheme: string) => string)[] = [
  (scheme) => `${scheme}:x`,
  (scheme) => ` \n${scheme}:x`,
  (scheme) => String.raw`${scheme}\:x`,
  (scheme) => `${scheme}&colon;x`,
  (scheme) => `${scheme}&#58;x`,
  (scheme) => `&#${scheme.charCodeAt(0)};${scheme.slice(1)}:x`,
  (scheme) => `<${scheme}:x>`,
]
const AROUND: readonly ((to: string) => string)[] = [
  (to) => `[a](${to})`,
  (to) => `![a](${to})`,
  (to) => `[a](${to} "t")`,
  (to) => `<${to}>`,
  (to) => `[a][b]\n\n[b]: ${to}`,
  (to) => `- [a](${to})`,
  (to) => `text\n[a\nb](${to})`,
  (to) => `[a](https://x.example) [b](${to})`,
  (to) => `[![a](b)](${to})`,
]
const OTHERS = [
  '//host/share',
  String.raw`\\host\share`,
  '/\\host\\share',
  '/&sol;host/share',
  '/&#47;host/share',
  String.raw`/\/host`,
].map((to) => `[a](${to})`)

export const addressesInExports: Attack = {
  name: 'markdown: links lead to the web only',
  prove: () =>
    tryEach(
      SCHEMES.flatMap((scheme) => SPELLINGS.map((spell) => spell(scheme)))
        .flatMap((to) => AROUND.map((put) => put(to)))
        .concat(OTHERS),
      (text) => {
        const page = render(createMarkdownView(), session, [entry('user', text)])
        const found = marked.lexer(page).flatMap(addressesIn)
        return found.find((to) => !/^(?:https?:\/\/|mailto:|[\w./#-]*$)/.test(to) || to.startsWith('//'))
      },
    ),
}

/** Of links and pictures, as a program that renders the page would follow them. */
function addressesIn(token: Token): readonly string[] {
  const { href, tokens = [] } = token as { readonly href?: unknown; readonly tokens?: readonly Token[] }
  return [...(typeof href === 'string' ? [href] : []), ...tokens.flatMap(addressesIn)]
}

const SEQUENCES = [
  '\u001b]0;x\u0007',
  '\u001b[2J',
  '\u009b31m',
  '\u001b]52;c;aGk=\u0007',
  '\r\n',
  '\u202e',
  '\u0000',
]

export const titlesOfCasts: Attack = {
  name: 'asciicast: the title is plain',
  prove: () =>
    tryEach(SEQUENCES, (title) => {
      const header = JSON.parse(createAsciicast().begin({ ...session, title })) as { readonly title: string }
      // oxlint-disable-next-line no-control-regex
      return /[\u0000-\u001f\u007f-\u009f\u202e]/.test(header.title) ? header.title : undefined
    }),
}
