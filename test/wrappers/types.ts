/**
 * What the packages' own compilers must take: a recorded client is of the client's type. A text, for the packages are there only when
 * the programs of this folder run.
 */
export const TYPES = `
import OpenAI from 'openai'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { createOpenAI } from '@ai-sdk/openai'
import { wrapLanguageModel, type LanguageModel } from 'ai'
import { addTraceProcessor } from '@openai/agents'
import { ChatOpenAI } from '@langchain/openai'
import * as sdk from '@anthropic-ai/claude-agent-sdk'
import { record as recordOpenAI } from 'hansard/openai'
import { record as recordAnthropic } from 'hansard/anthropic'
import { record as recordGoogle } from 'hansard/google'
import { middleware, record as recordModel } from 'hansard/ai-sdk'
import { processor } from 'hansard/openai-agents'
import { handler } from 'hansard/langchain'
import { record as recordQuery } from 'hansard/claude-agent-sdk'
import { recordedFetch } from 'hansard/fetch'
import { recordLiteLlmPayload } from 'hansard/litellm'

const openai: OpenAI = recordOpenAI(new OpenAI())
const anthropic: Anthropic = recordAnthropic(new Anthropic())
const google: GoogleGenAI = recordGoogle(new GoogleGenAI({}))
const provider = createOpenAI({ fetch: recordedFetch() })
const wrapped: LanguageModel = wrapLanguageModel({ model: provider('gpt-5'), middleware: middleware() })
const model: LanguageModel = recordModel(provider('gpt-5'))
const query: typeof sdk.query = recordQuery(sdk.query)
const fetched: typeof fetch = recordedFetch()
addTraceProcessor(processor())
await new ChatOpenAI().invoke('hi', { callbacks: [handler()] })
recordLiteLlmPayload({})
export { openai, anthropic, google, wrapped, model, query, fetched }
`
