import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { planRedirection } from './redirection.ts'
import { toUpstreams } from '../capture/proxy/upstreams.ts'

const PROXY = 'http://127.0.0.1:4141'

describe('a program that is run', () => {
  it('asks the proxy, which asks the provider', () => {
    const { upstreams, redirect } = planRedirection(toUpstreams(), { PATH: '/bin' }, ['agent', '-x'])
    const { env, command } = redirect(PROXY)
    expect(env).toEqual({
      PATH: '/bin',
      ANTHROPIC_BASE_URL: `${PROXY}/anthropic`,
      OPENAI_BASE_URL: `${PROXY}/openai/v1`,
      GOOGLE_GEMINI_BASE_URL: `${PROXY}/google`,
      CODE_ASSIST_ENDPOINT: `${PROXY}/code-assist`,
    })
    expect(command).toEqual(['agent', '-x'])
    expect(upstreams.get('anthropic')?.url.href).toBe('https://api.anthropic.com/')
  })

  it('has what was set before as the upstream, path and all', () => {
    const env = { OPENAI_BASE_URL: 'http://gateway:8080/team/v1', ANTHROPIC_BASE_URL: 'not a URL' }
    const { upstreams, redirect } = planRedirection(toUpstreams(), env, ['agent'])
    expect(upstreams.get('openai')?.url.href).toBe('http://gateway:8080/team/v1')
    expect(redirect(PROXY).env).toMatchObject({ OPENAI_BASE_URL: `${PROXY}/openai` })
    expect(upstreams.get('anthropic')?.url.href).toBe('https://api.anthropic.com/')
  })

  it('keeps two addresses of one provider apart', () => {
    const env = { OPENAI_BASE_URL: 'http://one/v1', OPENAI_API_BASE: 'http://two/v1' }
    const { upstreams, redirect } = planRedirection(toUpstreams(), env, ['agent'])
    const said = redirect(PROXY).env
    const name = (said['OPENAI_API_BASE'] ?? '').slice(PROXY.length + 1)
    expect(said['OPENAI_BASE_URL']).toBe(`${PROXY}/openai`)
    expect(upstreams.get('openai')?.url.href).toBe('http://one/v1')
    expect(upstreams.get(name)?.url.href).toBe('http://two/v1')
  })

  it('is told not to take the web’s proxy for this machine', () => {
    const env = { HTTPS_PROXY: 'http://corp:3128', NO_PROXY: 'intra.example' }
    const said = planRedirection(toUpstreams(), env, ['agent']).redirect(PROXY).env
    expect(said['NO_PROXY']).toBe('intra.example,127.0.0.1,localhost')
  })

  it('is Codex: told by flags, with the provider of its own settings as the upstream', () => {
    const home = fs.mkdtempSync(join(os.tmpdir(), 'codex-home-'))
    const plan = () =>
      planRedirection(toUpstreams(), { CODEX_HOME: home }, ['/usr/bin/codex', 'exec', 'hello'])
    expect(plan().redirect(PROXY).command).toEqual([
      '/usr/bin/codex',
      '-c',
      `openai_base_url="${PROXY}/openai/v1"`,
      'exec',
      'hello',
    ])
    fs.writeFileSync(
      join(home, 'config.toml'),
      'model = "m"\nmodel_provider = "mine"\n[model_providers.other]\nbase_url = "http://other/v1"\n[model_providers.mine]\nname = "Mine"\nbase_url = "http://mine:9/v1"\n',
    )
    expect(plan().upstreams.get('codex')?.url.href).toBe('http://mine:9/v1')
    expect(plan().redirect(PROXY).command).toContain(`model_providers.mine.base_url="${PROXY}/codex"`)
    fs.rmSync(home, { recursive: true })
  })
})
