/** Foreign text as text nodes, with the characters that hide or turn something around named in it. */
import { toPieces } from '../text/visible.ts'

export function Visible({ text }: { readonly text: string }) {
  const pieces = toPieces(text)
  if (pieces.length === 1 && pieces[0]?.sign === undefined) return <>{text}</>
  return (
    <>
      {pieces.map(({ text: piece, sign }, at) =>
        sign ? (
          <span key={at} class="visible-sign" title="a character that is not shown by itself">
            {piece}
          </span>
        ) : (
          piece
        ),
      )}
    </>
  )
}
