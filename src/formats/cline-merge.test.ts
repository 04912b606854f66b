import { describe, expect, it } from 'vitest'
import { heldBytes } from '../../test/held-bytes.ts'
import { createTaskFold } from './cline-facts.ts'
import { mergeLists } from './cline-merge.ts'
import type { ListElement } from './list-salvage.ts'

const LONG = 9 * 1024 * 1024

async function* listOf(...elements: readonly ListElement[]): AsyncGenerator<readonly ListElement[]> {
  for (const element of elements) yield [element]
}

describe('messages of many MB', () => {
  it('are let go of when more are asked for, and short ones are not', async () => {
    const sent = [LONG, 100, LONG].map((byteLength, at) => ({
      value: { role: 'user', at },
      byteOffset: 0,
      byteLength,
    }))
    const seen: unknown[] = []
    const facts = { isIndexed: false, isTimed: false, task: undefined }
    for await (const merged of mergeLists(listOf(...sent), listOf(), facts))
      for (const { element } of merged) seen.push(element.value)
    expect(seen).toEqual([0, 1, 2].map((at) => ({ role: 'user', at })))
    expect(sent.map(({ value }) => value)).toEqual([undefined, { role: 'user', at: 1 }, undefined])
  })

  it('are not held for the title or the end of the task that they tell of', () => {
    const held = (): number => heldBytes() / 1e6
    const fold = createTaskFold()
    const before = held()
    // Not in this frame, which would hold on to it.
    const show = (name: string): void => {
      const text = Buffer.from(`the ${name} thing that was said\n${'said before '.repeat(800_000)}😀`)
      fold.shown({ type: 'say', say: 'text', text: text.toString() })
    }
    for (const name of ['first', 'last']) show(name)
    expect(held() - before).toBeLessThan(10)
    expect(fold.facts([])).toMatchObject({ title: 'the first thing that was said', status: 'completed' })
  })

  it.each([
    ['', ''],
    [', behind all that terminals said', 'built a file\n'.repeat(20_000)],
  ])('are not held for the folder and the model that their details tell of%s', (_, output) => {
    const fold = createTaskFold()
    const before = heldBytes() / 1e6
    const send = (): void => {
      const folder = '# Current Workspace Directory (/home/me/project) Files'
      const details = `${output}${folder}\n<model>claude-sonnet-4-5</model>`
      const text = Buffer.from(`${'said before '.repeat(800_000)}😀<environment_details>\n${details}`)
      fold.sent({ role: 'user', content: [{ type: 'text', text: text.toString() }] })
    }
    send()
    expect(heldBytes() / 1e6 - before).toBeLessThan(10)
    expect(fold.facts([])).toMatchObject({ cwd: '/home/me/project', model: 'claude-sonnet-4-5' })
  })
})

describe('both lists', () => {
  const facts = { isIndexed: false, isTimed: false, task: undefined }
  /** Says which of them were left, as a file would be closed. */
  const left: string[] = []
  async function* leaving(name: string, ends = false): AsyncGenerator<readonly ListElement[]> {
    try {
      for (let n = 0; n < 3; n += 1)
        yield [{ value: { role: 'user', type: 'say', say: 'text' }, byteOffset: 0, byteLength: LONG }]
      if (ends) throw new Error('cannot be read')
    } finally {
      left.push(name)
    }
  }

  it('are left when no more is asked for', async () => {
    left.length = 0
    for await (const _ of mergeLists(leaving('history'), leaving('ui'), facts)) break
    expect(left.toSorted()).toEqual(['history', 'ui'])
  })

  it('are left when one of them cannot be read to its end', async () => {
    left.length = 0
    const read = async (): Promise<void> => {
      for await (const _ of mergeLists(leaving('history'), leaving('ui', true), facts));
    }
    await expect(read()).rejects.toThrow('cannot be read')
    expect(left.toSorted()).toEqual(['history', 'ui'])
  })
})
