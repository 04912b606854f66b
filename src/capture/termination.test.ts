import { expect, it, vi } from 'vitest'
import { onTermination } from './termination.ts'

it.each(['once', 'on'] as const)(
  'leaves a signal to a program that listens to it (%s), also from before us',
  (how) => {
    const killed = vi.spyOn(process, 'kill').mockReturnValue(true)
    const heard = vi.fn()
    const terminate = vi.fn()
    const flushSync = vi.fn()
    process[how]('SIGHUP', heard)
    const forget = onTermination({ terminate, flushSync })
    process.emit('SIGHUP', 'SIGHUP')
    forget()
    process.off('SIGHUP', heard)
    expect(heard).toHaveBeenCalledOnce()
    expect(flushSync).toHaveBeenCalledOnce()
    expect(terminate).not.toHaveBeenCalled()
    expect(killed).not.toHaveBeenCalled()
    killed.mockRestore()
  },
)

it('dies of a signal that nobody listens to, after its sessions have ended', () => {
  const killed = vi.spyOn(process, 'kill').mockReturnValue(true)
  const terminate = vi.fn()
  const forget = onTermination({ terminate, flushSync: vi.fn() })
  process.emit('SIGHUP', 'SIGHUP')
  forget()
  expect(terminate).toHaveBeenCalledOnce()
  expect(killed).toHaveBeenCalledWith(process.pid, 'SIGHUP')
  killed.mockRestore()
})
