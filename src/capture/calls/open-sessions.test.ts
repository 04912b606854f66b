import { describe, expect, it } from 'vitest'
import type { Session } from '../../transcript/session.ts'
import { parseRequest } from '../../wire/request.ts'
import type { Conversation } from './conversation.ts'
import { createOpenSessions } from './open-sessions.ts'
import type { Recorder } from '../record.ts'

const request = parseRequest('anthropic-messages', { messages: [{ role: 'user', content: 'hello' }] })
const named = (sessionId: string) => ({ request, client: { native: { agent: 'a', sessionId } } })

/** Sessions of which nothing is written: only which of them are open is asked for. */
function open(most: number) {
  const ended: string[] = []
  let count = 0
  const sessions = createOpenSessions({
    most,
    async begin() {
      count += 1
      const id = `session ${count}`
      return {
        conversation: { overlap: () => 0 } as unknown as Conversation,
        recorder: {
          end: async () => {
            ended.push(id)
            return { id } as Session
          },
        } as unknown as Recorder,
      }
    },
    failed: (error) => {
      throw error
    },
  })
  return { sessions, ended }
}

describe('open sessions', () => {
  it('are as many as may be open: the one that was asked for longest ago is ended', async () => {
    const { sessions, ended } = open(2)
    const first = sessions.of(named('1'))
    sessions.of(named('2'))
    expect(sessions.of(named('1'))).toBe(first)
    sessions.of(named('3'))
    await new Promise((done) => setImmediate(done))
    expect(ended).toEqual(['session 2'])
    expect(sessions.of(named('1'))).toBe(first)
    expect((await sessions.end()).map(({ id }) => id).toSorted()).toEqual([
      'session 1',
      'session 2',
      'session 3',
    ])
  })

  it('are not ended while a call of them is under way', async () => {
    const { sessions, ended } = open(1)
    sessions.of(named('1')).calls += 1
    sessions.of(named('2')).calls += 1
    await new Promise((done) => setImmediate(done))
    expect(ended).toEqual([])
  })

  it('are another one each, where nobody says which', () => {
    const { sessions } = open(10)
    expect(sessions.of({ request })).not.toBe(sessions.of({ request }))
    const grouped = sessions.of({ request, groups: ['trace'] })
    expect(sessions.of({ request, groups: ['other', 'trace'] })).toBe(grouped)
    expect(sessions.inGroup(['other'])).toBe(grouped)
  })
})
