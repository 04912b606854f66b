/** An answer as it goes to a client: head, and the frames with their times. */
export type PlayedAnswer = {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  /** Milliseconds since the request, and the bytes. */
  readonly frames: readonly (readonly [number, Buffer])[]
  /** The connection broke after the last of them. */
  readonly isBroken: boolean
  /** `tape`: byte for byte as it was; `entries`: made again from what was recorded of it. */
  readonly from: 'tape' | 'entries'
}
