/** Content of a block: text in place, or a file of the archive to be had. */
import type { Content } from '../../../transcript/block.ts'
import { blobUrl } from '../../api.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { shortBytes } from '../../ui/numbers.ts'
import { Output } from './output.tsx'

export function Stored({ content }: { readonly content: Content }) {
  if (typeof content === 'string') return <Output text={content} label="Output" />
  return (
    <p>
      <a href={blobUrl(content.blob)} download>
        {shortBytes(content.bytes)} of {visible(oneLine(content.mediaType, 80))}
      </a>
    </p>
  )
}
