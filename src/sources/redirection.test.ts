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

  describe('and is Codex, goes on to where it would have gone', () => {
    const OPENAI = `openai_base_url="${PROXY}/codex"`
    const MINE = `model_providers.mine.base_url="${PROXY}/codex"`
    const providers =
      '[model_providers.mine]\nbase_url = "http://mine:9/v1"\n[profiles.work]\nmodel_provider = "mine"\n'
    it.each<[string, string, readonly string[], string | undefined, readonly string[]]>([
      [
        'an address in its settings',
        'openai_base_url = "http://gw/v1"',
        ['codex', 'x'],
        'http://gw/v1',
        ['codex', '-c', OPENAI, 'x'],
      ],
      [
        'one of another table, which is none',
        '[x]\nopenai_base_url = "http://gw/v1"',
        ['codex'],
        undefined,
        ['codex', '-c', `openai_base_url="${PROXY}/openai/v1"`],
      ],
      [
        'one in a flag',
        '',
        ['codex', 'exec', '-c', 'openai_base_url="http://gw/v1"', 'x'],
        'http://gw/v1',
        ['codex', 'exec', '-c', OPENAI, 'x'],
      ],
      [
        'one in a flag in one word',
        '',
        ['codex', '--config=openai_base_url=http://gw/v1'],
        'http://gw/v1',
        ['codex', `--config=${OPENAI}`],
      ],
      [
        'a flag before its settings',
        'openai_base_url = "http://no/v1"',
        ['codex', '-c', "openai_base_url='http://gw/v1'"],
        'http://gw/v1',
        ['codex', '-c', OPENAI],
      ],
      [
        'a flag that is part of the prompt',
        '',
        ['codex', 'exec', '--', '-c', 'openai_base_url=http://gw/v1'],
        undefined,
        [
          'codex',
          '-c',
          `openai_base_url="${PROXY}/openai/v1"`,
          'exec',
          '--',
          '-c',
          'openai_base_url=http://gw/v1',
        ],
      ],
      [
        'the provider of its profile',
        providers,
        ['codex', '-p', 'work'],
        'http://mine:9/v1',
        ['codex', '-c', MINE, '-p', 'work'],
      ],
      [
        'the provider of a profile in its settings',
        `profile = "work"\n${providers}`,
        ['codex'],
        'http://mine:9/v1',
        ['codex', '-c', MINE],
      ],
      [
        'a provider in a flag',
        providers,
        ['codex', '-c', 'model_provider=mine'],
        'http://mine:9/v1',
        ['codex', '-c', MINE, '-c', 'model_provider=mine'],
      ],
      [
        'a provider that it knows by itself',
        'model_provider = "ollama"',
        ['codex', 'x'],
        undefined,
        ['codex', 'x'],
      ],
      [
        'nothing, run by another program',
        '',
        ['npx', '-y', '@openai/codex@latest', 'exec'],
        undefined,
        ['npx', '-y', '@openai/codex@latest', '-c', `openai_base_url="${PROXY}/openai/v1"`, 'exec'],
      ],
      [
        'nothing, for it is another program',
        '',
        ['grep', 'codex', 'file'],
        undefined,
        ['grep', 'codex', 'file'],
      ],
    ])('%s', (_, settings, command, url, told) => {
      const home = fs.mkdtempSync(join(os.tmpdir(), 'codex-home-'))
      fs.writeFileSync(join(home, 'config.toml'), settings)
      const plan = planRedirection(toUpstreams(), { CODEX_HOME: home }, command)
      expect(plan.upstreams.get('codex')?.url.href).toBe(url)
      expect(plan.redirect(PROXY).command).toEqual(told)
      fs.rmSync(home, { recursive: true })
    })
  })
})
