import { describe, expect, it } from 'vitest'
import type { Block } from '../transcript/block.ts'
import { createSpawns, type Spawns } from './claude-spawns.ts'

const said = (text: string): Block[] => [{ type: 'text', text }]

function call(spawns: Spawns, callId: string, prompt: string): void {
  const block: Block = { type: 'tool-call', callId, name: 'Task', input: { prompt } }
  spawns.observe({ type: 'assistant' }, [block], 'primary')
}

function name(spawns: Spawns, callId: string, agentId: string): void {
  const block: Block = { type: 'tool-result', callId, output: 'done', isError: false }
  spawns.observe({ type: 'user', toolUseResult: { agentId } }, [block], 'primary')
}

describe('calls that start agents', () => {
  it('with one prompt are taken in their order, but for those whose agents are named', () => {
    const spawns = createSpawns()
    for (const id of ['a', 'b', 'c', 'd']) call(spawns, id, 'look at it')
    name(spawns, 'b', 'second')
    expect(spawns.find('subagent:one', said('look at it'))?.callId).toBe('a')
    expect(spawns.find('subagent:second', said('look at it'))?.callId).toBe('b')
    expect(spawns.find('subagent:two', said('look at it'))?.callId).toBe('c')
    expect(spawns.find('subagent:three', said('something else'))).toBeUndefined()
    expect(spawns.find('subagent:four', said('look at it'))?.callId).toBe('d')
    expect(spawns.find('subagent:five', said('look at it'))).toBeUndefined()
  })

  it("are no other agent's when their own was named, read already or not", () => {
    const spawns = createSpawns()
    for (const id of ['a', 'b']) call(spawns, id, 'look at it')
    name(spawns, 'a', 'first')
    expect(spawns.find('subagent:unnamed', said('look at it'))?.callId).toBe('b')
    expect(spawns.find('subagent:first', said('look at it'))?.callId).toBe('a')
  })

  it('that go on with an agent start no other', () => {
    const spawns = createSpawns()
    for (const id of ['a', 'b', 'c']) call(spawns, id, 'look at it')
    for (const id of ['a', 'b']) name(spawns, id, 'first')
    expect(spawns.find('subagent:unnamed', said('look at it'))?.callId).toBe('c')
  })

  it('are no second call when their line was copied', () => {
    const spawns = createSpawns()
    for (const id of ['a', 'a', 'b']) call(spawns, id, 'look at it')
    expect(spawns.find('subagent:one', said('look at it'))?.callId).toBe('a')
    expect(spawns.find('subagent:two', said('look at it'))?.callId).toBe('b')
  })

  it('are found in linear time when any number of them have one prompt', () => {
    const work = (count: number): number => {
      const spawns = createSpawns()
      for (let n = 0; n < count; n += 1) call(spawns, `call-${n}`, 'look at it')
      for (let n = 0; n < count; n += 2) name(spawns, `call-${n}`, `agent-${n}`)
      const before = process.cpuUsage()
      // The named ones from the last, the others from the first.
      for (let n = 0; n < count; n += 2) spawns.find(`subagent:agent-${count - 2 - n}`, said('look at it'))
      let right = 0
      for (let n = 0; n < count; n += 2)
        if (spawns.find(`subagent:other-${n}`, said('look at it'))?.callId === `call-${n + 1}`) right += 1
      expect(right).toBe(count / 2)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    work(2000)
    // Milliseconds: sixteen times as many. What looks for each among all takes 20 seconds.
    expect(work(96_000)).toBeLessThan(work(6000) * 60 + 200)
  })
})
