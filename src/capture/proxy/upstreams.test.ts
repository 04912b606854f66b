import { describe, expect, it } from 'vitest'
import { toRoute, toUpstreams } from './upstreams.ts'

const upstreams = toUpstreams(['litellm=http://127.0.0.1:4000/base/'])
const route = (target: string) => {
  const found = toRoute(upstreams, target)
  return found && [found.upstream.name, found.path, found.api, found.model]
}

describe('toRoute', () => {
  it.each([
    ['/v1/messages?beta=true', ['anthropic', '/v1/messages?beta=true', 'anthropic-messages', undefined]],
    ['/v1/messages/count_tokens', ['anthropic', '/v1/messages/count_tokens', undefined, undefined]],
    ['/v1/chat/completions', ['openai', '/v1/chat/completions', 'openai-chat', undefined]],
    ['/v1/responses', ['openai', '/v1/responses', 'openai-responses', undefined]],
    ['/v1/models', ['openai', '/v1/models', undefined, undefined]],
    [
      '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
      ['google', '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', 'gemini', 'gemini-2.5-pro'],
    ],
    [
      '/model/us.anthropic.claude%3A0/invoke-with-response-stream',
      [
        'bedrock',
        '/model/us.anthropic.claude%3A0/invoke-with-response-stream',
        'bedrock-invoke',
        'us.anthropic.claude:0',
      ],
    ],
    ['/anthropic/v1/messages', ['anthropic', '/v1/messages', 'anthropic-messages', undefined]],
    ['/openai/v1/responses', ['openai', '/v1/responses', 'openai-responses', undefined]],
    ['/openrouter/v1/chat/completions', ['openrouter', '/api/v1/chat/completions', 'openai-chat', undefined]],
    ['/litellm/chat/completions', ['litellm', '/base/chat/completions', 'openai-chat', undefined]],
    ['/litellm', ['litellm', '/base/', undefined, undefined]],
    ['/', ['anthropic', '/', undefined, undefined]],
  ])('sends %s where it belongs', (target, expected) => {
    expect(route(target)).toEqual(expected)
  })

  it('knows LiteLLM where it listens by itself', () => {
    const found = toRoute(toUpstreams(), '/litellm/v1/chat/completions')
    expect([found?.upstream.url.href, found?.path]).toEqual([
      'http://127.0.0.1:4000/',
      '/v1/chat/completions',
    ])
  })

  it.each(['http://169.254.169.254/latest', '//evil.example/v1/messages', '', 'v1/messages', '*'])(
    'sends %s nowhere',
    (target) => {
      expect(route(target)).toBeUndefined()
    },
  )

  it('goes to no host but those on the list, whatever the path says', () => {
    for (const target of ['/@evil.example/v1/messages', '/%2f%2fevil.example/'])
      expect(['anthropic', 'openai']).toContain(toRoute(upstreams, target)?.upstream.name)
    for (const target of ['/\\evil.example', '/..//evil']) expect(toRoute(upstreams, target)).toBeUndefined()
  })
})

describe('toUpstreams', () => {
  it.each(['litellm', '=http://x', 'Upper=http://x', 'a=ftp://x', 'a=nonsense', '../a=http://x'])(
    'says what is wrong with %s',
    (given) => {
      expect(() => toUpstreams([given])).toThrow(/is not NAME=URL/)
    },
  )

  it('takes Bedrock’s region from where AWS programs do, if it is one', () => {
    expect(toUpstreams([], { AWS_REGION: 'eu-west-1' }).get('bedrock')?.url.hostname).toBe(
      'bedrock-runtime.eu-west-1.amazonaws.com',
    )
    expect(toUpstreams([], { AWS_REGION: 'x.evil.example/' }).get('bedrock')?.url.hostname).toMatch(
      /us-east-1/,
    )
  })
})
