/** What a call goes through, each of which may fail: a test makes them. */
import { parseRequest } from '../../wire/request.ts'
import { record } from '../record.ts'
import { createAnswerReader } from './answer.ts'
import { clientOf } from './client.ts'
import { createConversation } from './conversation.ts'
import { createTapeDeck } from './tape.ts'

export const PARTS = {
  clientOf,
  parseRequest,
  createAnswerReader,
  createConversation,
  createTapeDeck,
  record,
}
export type Parts = typeof PARTS
