import { afterEach, describe, expect, it, vi } from 'vitest'
import { coloursFor, hasColours, statusStyle } from './colour.ts'
import { STATUSES } from '../transcript/session.ts'

const terminal = { isTTY: true }
const pipe = {}

afterEach(() => vi.resetModules())

describe('colours', () => {
  it('are for terminals, and never in a pipe', () => {
    expect(hasColours(terminal, { TERM: 'xterm' })).toBe(true)
    expect(hasColours(terminal, {})).toBe(true)
    expect(hasColours(pipe, { TERM: 'xterm' })).toBe(false)
    expect(hasColours(terminal, { TERM: 'dumb' })).toBe(false)
  })

  it('are declined by NO_COLOR, unless it is empty', () => {
    expect(hasColours(terminal, { NO_COLOR: '1' })).toBe(false)
    expect(hasColours(terminal, { NO_COLOR: '0' })).toBe(false)
    expect(hasColours(terminal, { NO_COLOR: '1', FORCE_COLOR: '1' })).toBe(false)
    expect(hasColours(terminal, { NO_COLOR: '' })).toBe(true)
  })

  it('are forced by FORCE_COLOR, which may also say no', () => {
    for (const value of ['', '1', '2', 'true']) expect(hasColours(pipe, { FORCE_COLOR: value })).toBe(true)
    expect(hasColours(pipe, { FORCE_COLOR: '1', TERM: 'dumb' })).toBe(true)
    for (const value of ['0', 'false']) expect(hasColours(terminal, { FORCE_COLOR: value })).toBe(false)
  })

  it('are off for good once --no-color was read', async () => {
    const { coloursFor: fresh, declineColours } = await import('./colour.ts')
    declineColours()
    expect(fresh(terminal, { FORCE_COLOR: '1' }).red('x')).toBe('x')
  })

  it('close what they open, and nothing else', () => {
    const { paint, red, bold } = coloursFor(pipe, { FORCE_COLOR: '1' })
    expect(red('x')).toBe('\x1b[31mx\x1b[39m')
    expect(paint('x', 'bold', 'red')).toBe('\x1b[31m\x1b[1mx\x1b[22m\x1b[39m')
    expect(bold('')).toBe('')
    expect(coloursFor(pipe, {}).paint('x', 'bold', 'red')).toBe('x')
  })

  it('know every status', () => {
    for (const status of STATUSES) expect(statusStyle(status)).toMatch(/^[a-z]+$/)
  })
})
