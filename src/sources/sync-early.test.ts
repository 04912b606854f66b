import { expect, it } from 'vitest'
import { openEarlyReaders } from './sync-early.ts'

it('starts readers once, when there is enough to read, and gives them to one who asks', async () => {
  const early = await openEarlyReaders(100)
  early.seen(99)
  expect(early.take()).toBeUndefined()
  early.seen(1)
  const readers = early.take()
  expect(readers?.width).toBeGreaterThan(0)
  early.seen(1000)
  expect(early.take()).toBeUndefined()
  await readers?.close()
})

it('closes what nobody asked for, so that nobody gets it afterwards', async () => {
  const early = await openEarlyReaders(1)
  early.seen(1)
  await early.close()
  expect(early.take()).toBeUndefined()
})
