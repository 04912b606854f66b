// 1,000 answers made at random, of every kind of delta, cut at random bytes: what is recorded of each equals what the SDKs themselves put
// together from the same bytes.
import Anthropic from '@anthropic-ai/sdk'
import { recording } from 'hansard'
import OpenAI from 'openai'
import { askAll, compareAll, startProvider } from './shared-answers.mjs'
import { options } from './shared.mjs'

const provider = await startProvider()
const recorded = recording(options)
const anthropic = recorded.anthropic(new Anthropic({ apiKey: 'sk-ant-test', baseURL: provider.url }))
const openai = recorded.openai(new OpenAI({ apiKey: 'sk-test', baseURL: `${provider.url}/v1` }))
// A session for each question: they are ended as the program goes.
const wanted = await askAll({ anthropic, openai }, 500, async (serial) => {
  if (serial % 50 === 49) await recorded.end()
})
await recorded.end()
provider.close()
await compareAll(wanted)
