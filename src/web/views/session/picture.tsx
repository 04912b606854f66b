/** A picture of a transcript: only from the entry itself or the archive, never from elsewhere, and only of kinds that cannot run anything. */
import type { ImageBlock } from '../../../transcript/block.ts'
import { blobUrl } from '../../api.ts'
import { oneLine, visible } from '../../text/visible.ts'
import { shortBytes } from '../../ui/numbers.ts'

const SAFE = /^image\/(?:png|jpe?g|gif|webp|avif|bmp)$/i
const BASE64 = /^[a-z0-9+/]+={0,2}$/i

export function Picture({ block, isCut }: { readonly block: ImageBlock; readonly isCut: boolean }) {
  const { mediaType, data, url } = block
  const src = sourceOf(block)
  if (src !== undefined && !isCut)
    return <img class="picture" src={src} alt="Picture in the transcript" loading="lazy" />
  const size = typeof data === 'object' ? ` of ${shortBytes(data.bytes)}` : ''
  return (
    <p class="picture-note">
      Picture{size} <span class="quiet">{visible(oneLine(mediaType ?? '', 80))}</span>
      {url !== undefined && <span class="quiet"> not loaded: {visible(oneLine(url, 300))}</span>}
      {isCut && <span class="quiet"> too large to be shown here at once</span>}
    </p>
  )
}

function sourceOf({ mediaType, data, url }: ImageBlock): string | undefined {
  if (typeof data === 'object') return SAFE.test(data.mediaType) ? blobUrl(data.blob) : undefined
  if (typeof data === 'string') {
    const type = mediaType ?? 'image/png'
    return SAFE.test(type) && BASE64.test(data) ? `data:${type};base64,${data}` : undefined
  }
  const [, type, bytes] = /^data:([\w/+.-]{1,40});base64,(.*)$/s.exec(url ?? '') ?? []
  return type !== undefined && SAFE.test(type) && BASE64.test(bytes ?? '') ? url : undefined
}
