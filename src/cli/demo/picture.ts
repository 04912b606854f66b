/** A picture as an agent's browser would have taken it, drawn here dot by dot: a receipt with a total that is wrong. */
import { crc32, deflateSync } from 'node:zlib'

const [WIDTH, HEIGHT] = [360, 220]

type Colour = readonly [number, number, number]
const PAGE: Colour = [240, 242, 246]
const CARD: Colour = [255, 255, 255]
const LINE: Colour = [206, 212, 222]
const TEXT: Colour = [84, 96, 116]
const DARK: Colour = [28, 36, 52]
const BAD: Colour = [208, 52, 56]
const BUTTON: Colour = [30, 110, 190]

/** The bytes of a PNG in base64. */
export function drawReceipt(isFixed = false): string {
  const dots = Buffer.alloc(WIDTH * HEIGHT * 3)
  const fill = (x: number, y: number, width: number, height: number, colour: Colour): void => {
    for (let row = y; row < y + height; row += 1)
      for (let column = x; column < x + width; column += 1)
        for (let part = 0; part < 3; part += 1) dots[(row * WIDTH + column) * 3 + part] = colour[part] ?? 0
  }
  fill(0, 0, WIDTH, HEIGHT, PAGE)
  fill(0, 0, WIDTH, 30, DARK)
  fill(14, 11, 70, 8, PAGE)
  fill(300, 11, 44, 8, TEXT)
  fill(30, 48, 300, 152, CARD)
  fill(46, 62, 120, 10, DARK)
  for (const [row, width] of [150, 110, 170].entries()) {
    fill(46, 88 + row * 20, width, 6, TEXT)
    fill(276, 88 + row * 20, 38, 6, TEXT)
  }
  fill(46, 150, 268, 1, LINE)
  fill(46, 162, 60, 10, DARK)
  fill(252, 160, 62, 14, isFixed ? DARK : BAD)
  fill(46, 182, 268, 12, BUTTON)
  return toPng(dots).toString('base64')
}

function toPng(dots: Buffer): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(WIDTH, 0)
  head.writeUInt32BE(HEIGHT, 4)
  // Eight bits, red green blue.
  head.set([8, 2, 0, 0, 0], 8)
  const rows = Buffer.alloc((WIDTH * 3 + 1) * HEIGHT)
  for (let row = 0; row < HEIGHT; row += 1)
    dots.copy(rows, row * (WIDTH * 3 + 1) + 1, row * WIDTH * 3, (row + 1) * WIDTH * 3)
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(named.length + 8)
  whole.writeUInt32BE(data.length, 0)
  named.copy(whole, 4)
  whole.writeUInt32BE(crc32(named), named.length + 4)
  return whole
}
