import { describe, expect, it } from 'vitest'
import { keysIn } from './keyboard.ts'
import { play, type Shown } from './player.ts'

const frame = (text: string, more: Partial<Shown> = {}): Shown => ({
  text,
  gapMs: 0,
  isShortened: false,
  marks: [],
  ...more,
})

const FRAMES: readonly Shown[] = [
  frame('one\n', { marks: ['prompt'] }),
  frame('two\n'),
  frame('three\n', { marks: ['tool'], gapMs: 60_000, isShortened: true }),
  frame('four\n', { marks: ['tool', 'error'] }),
  frame('five\n', { marks: ['prompt'] }),
]

type Screen = { readonly written: string; readonly waits: readonly number[] }

/** Plays with these keys, each pressed when the player waits for one; `.` lets a wait go by. */
async function played(keys: readonly string[], frames = FRAMES, speed = 1): Promise<Screen> {
  const left = [...keys]
  const waits: number[] = []
  let written = ''
  async function* all(): AsyncGenerator<Shown> {
    yield* frames
  }
  await play({
    frames: all(),
    write: (text) => void (written += text),
    key: async (ms) => {
      waits.push(ms)
      // A key that is waited for until there is one: nobody types any more.
      const next = left.shift()
      return next === '.' ? undefined : (next ?? (ms === Infinity ? 'q' : undefined))
    },
    speed,
    idleMs: 2000,
    rows: () => 3,
    dim: (text) => text,
  })
  return { written, waits }
}

/** Without the line that says where it is. */
const shown = ({ written }: Screen): readonly string[] =>
  written
    .replaceAll('\r\x1b[2K', '')
    .replaceAll(/— [^\n]*?keys —/g, '')
    .split('\x1b[2J\x1b[H')
    .map((screen) => screen.split('\n').filter(Boolean).join(' '))

describe('playing', () => {
  it('shows all in order, waits as long as is asked for, and says what was shortened', async () => {
    const screen = await played([], FRAMES, 2)
    expect(shown(screen)).toEqual(['one two — 1m0s later — three four five'])
    expect(screen.waits.slice(0, 5).map(Math.round)).toEqual([0, 0, 1000, 0, 0])
  })

  it('stops and goes on', async () => {
    const { written } = await played(['.', ' ', ' ', '.', '.', '.', '.'])
    expect(written).toContain('— 1 of more — space plays')
    expect(shown({ written, waits: [] }).join(' ')).toContain('five')
  })

  it.each([
    ['to the next tool call', ['t'], ['one two — 1m0s later — three']],
    ['to the next error', ['e'], ['one two — 1m0s later — three four']],
    ['past the first prompt to the second', ['n', 'n'], ['one two — 1m0s later — three four five']],
    [
      'back, with the screen as it was then',
      ['e', 'k'],
      ['one two — 1m0s later — three four', 'two — 1m0s later — three'],
    ],
    ['back to a prompt', ['e', 'p'], ['one two — 1m0s later — three four', 'one']],
    ['to the end and to the beginning', ['G', 'g', 'j'], ['one two — 1m0s later — three four five', 'one']],
  ])('goes %s', async (_, keys, screens) => {
    expect(shown(await played(keys))).toEqual(screens)
  })

  it('is faster and slower', async () => {
    const { waits } = await played(['+', '.', '.', '.'])
    expect(waits.map(Math.round)).toContain(1000)
  })

  it('types what was typed, and hurries when a key is pressed', async () => {
    const typed = [
      { ms: 100, text: 'he' },
      { ms: 5000, text: 'llo\n' },
    ]
    const { written, waits } = await played(['.', '.', '.'], [frame('hello\n', { typed })])
    expect(written).toContain('hello\n')
    expect(waits.slice(0, 3).map(Math.round)).toEqual([0, 100, 2000])
  })

  it('shows what comes while it waits, and hears keys meanwhile', async () => {
    let written = ''
    let isPressed = false
    async function* live(): AsyncGenerator<Shown> {
      yield frame('one\n')
      await new Promise((resolve) => setTimeout(resolve, 300))
      yield frame('two\n')
      await new Promise((resolve) => setTimeout(resolve, 60_000))
    }
    await play({
      frames: live(),
      isLive: true,
      write: (text) => void (written += text),
      key: async (ms) => {
        if (written.includes('two') && !isPressed) {
          isPressed = true
          return 'q'
        }
        await new Promise((resolve) => setTimeout(resolve, Math.min(ms, 20)))
        return undefined
      },
      speed: 1,
      idleMs: 10,
      rows: () => 3,
      dim: (text) => text,
    })
    expect(written).toContain('one\ntwo\n')
  })

  it('ends by q, by ctrl-c, and when nobody types any more', async () => {
    expect(shown(await played(['.', 'q']))).toEqual(['one'])
    expect(shown(await played(['.', 'ctrl-c']))).toEqual(['one'])
  })
})

describe('keys', () => {
  it('come one by one, arrows as one each', () => {
    expect(keysIn('j\x1b[C \x1b[Dq\x03')).toEqual(['j', 'right', ' ', 'left', 'q', 'ctrl-c'])
  })
})
