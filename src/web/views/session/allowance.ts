/**
 * How many rows may be drawn for the first time in one frame. Somebody who drags the scrollbar sees other rows in every frame: drawn at
 * once they would hold it up, so the first of them are drawn and the others wait for the next frame. At other times all are drawn at once:
 * who jumps waits for one drawing.
 */
const MOST_A_FRAME = 4

export type Allowance = {
  /** Whether one more may be drawn now. Who was refused is told when to draw again. */
  take(): boolean
  end(): void
}

export function createAllowance(
  isHurried: () => boolean,
  redraw: () => void,
  inNextFrame: (run: () => void) => void = (run) => void requestAnimationFrame(run),
): Allowance {
  let left = MOST_A_FRAME
  let [isRefused, isCounting, isEnded] = [false, false, false]
  const beginFrame = (): void => {
    const wasRefused = isRefused
    left = MOST_A_FRAME
    isRefused = isCounting = false
    if (wasRefused && !isEnded) redraw()
  }
  return {
    take() {
      if (!isHurried()) return true
      if (!isCounting) inNextFrame(beginFrame)
      isCounting = true
      isRefused ||= left === 0
      left = Math.max(0, left - 1)
      return !isRefused
    },
    end: () => void (isEnded = true),
  }
}
