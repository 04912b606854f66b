/** The agents that run offline: where each comes from, how it is set up for a provider at an address, asked, and told to run a command. */
import type { ToolUse } from './play.ts'

export type Agent = {
  /** As Hansard names it. */
  readonly name: string
  readonly command: string
  /** From the registry: the program, and what it runs under. */
  readonly packages: readonly string[]
  /** Of the program below `node_modules`, where it is not in `.bin`. */
  readonly path?: string
  /** Its settings for a provider at `url`: files, by their paths below its home. */
  settings?(url: string): Readonly<Record<string, string>>
  env?(url: string): Readonly<Record<string, string>>
  args(prompt: string, home: string): readonly string[]
  /** The use of its tool for the shell. */
  shell(command: string): ToolUse
  /** `hansard hook install` knows it. */
  readonly hasHooks?: boolean
}

export const AGENTS: readonly Agent[] = [
  {
    name: 'claude-code',
    command: 'claude',
    packages: ['@anthropic-ai/claude-code'],
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-ant-none',
      DISABLE_TELEMETRY: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // Lets it skip permissions for root, which containers are.
      IS_SANDBOX: '1',
    }),
    args: (prompt) => ['-p', prompt, '--dangerously-skip-permissions', '--model', 'claude-sonnet-4-5'],
    shell: (command) => ({ tool: 'Bash', input: { command, description: 'a word' } }),
    hasHooks: true,
  },
  {
    name: 'codex',
    command: 'codex',
    packages: ['@openai/codex'],
    settings: (url) => ({
      '.codex/config.toml': `model = "gpt-5.2-codex"
model_provider = "loopback"
[features]
plugins = false
[analytics]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "${url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`,
    }),
    env: () => ({ OPENAI_API_KEY: 'sk-none' }),
    args: (prompt) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
    shell: (cmd) => ({ tool: 'exec_command', input: { cmd } }),
    hasHooks: true,
  },
  {
    name: 'gemini-cli',
    command: 'gemini',
    packages: ['@google/gemini-cli'],
    settings: () => ({
      '.gemini/settings.json': quiet(
        { general: { disableAutoUpdate: true, enableAutoUpdate: false } },
        'gemini-api-key',
      ),
    }),
    env: (url) => ({
      GEMINI_API_KEY: 'none',
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    }),
    args: (prompt) => ['-p', prompt, '--approval-mode', 'yolo'],
    shell: (command) => ({ tool: 'run_shell_command', input: { command, description: 'a word' } }),
    hasHooks: true,
  },
  {
    name: 'qwen-code',
    command: 'qwen',
    packages: ['@qwen-code/qwen-code'],
    settings: () => ({ '.qwen/settings.json': quiet({ general: { disableAutoUpdate: true } }, 'openai') }),
    env: (url) => ({
      OPENAI_API_KEY: 'sk-none',
      OPENAI_BASE_URL: `${url}/v1`,
      OPENAI_MODEL: 'qwen3-coder-plus',
    }),
    args: (prompt) => ['-p', prompt, '--yolo'],
    shell: (command) => ({
      tool: 'run_shell_command',
      input: { command, description: 'a word', is_background: false },
    }),
  },
  {
    name: 'opencode',
    command: 'opencode',
    packages: ['opencode-ai'],
    settings: (url) => ({ '.config/opencode/opencode.json': openCode(url) }),
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    args: (prompt) => ['run', prompt],
    shell: (command) => ({ tool: 'bash', input: { command, description: 'a word' } }),
  },
  {
    name: 'kilo',
    command: 'kilo',
    packages: ['@kilocode/cli', '@kilocode/cli-linux-x64'],
    path: '@kilocode/cli-linux-x64/bin/kilo',
    settings: (url) => ({
      '.config/kilo/kilo.json': openCode(url),
      '.config/kilo/opencode.json': openCode(url),
    }),
    env: () => ({ KILO_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    args: (prompt) => ['run', '--auto', prompt],
    shell: (command) => ({ tool: 'bash', input: { command, description: 'a word' } }),
  },
  {
    name: 'pi',
    command: 'pi',
    packages: ['@earendil-works/pi-coding-agent'],
    settings: (url) => ({
      '.pi/agent/models.json': JSON.stringify({ providers: { anthropic: { baseUrl: url } } }),
    }),
    env: () => ({ ANTHROPIC_API_KEY: 'sk-ant-none', PI_OFFLINE: '1' }),
    args: (prompt) => ['-p', '--provider', 'anthropic', '--model', 'claude-sonnet-4-5', prompt],
    shell: (command) => ({ tool: 'bash', input: { command } }),
  },
  {
    name: 'oh-my-pi',
    command: 'omp',
    packages: ['@oh-my-pi/pi-coding-agent', 'bun'],
    env: (url) => ({ ANTHROPIC_API_KEY: 'sk-ant-none', ANTHROPIC_BASE_URL: url }),
    args: (prompt) => ['--model', 'anthropic/claude-sonnet-4-5', '-p', prompt],
    shell: (command) => ({ tool: 'bash', input: { command } }),
  },
  {
    name: 'copilot-cli',
    command: 'copilot',
    packages: ['@github/copilot'],
    env: (url) => ({
      COPILOT_PROVIDER_TYPE: 'anthropic',
      COPILOT_PROVIDER_BASE_URL: url,
      COPILOT_PROVIDER_API_KEY: 'sk-ant-none',
      COPILOT_MODEL: 'claude-sonnet-4.5',
      COPILOT_OFFLINE: 'true',
    }),
    args: (prompt) => ['-p', prompt, '--allow-all-tools', '--allow-all-paths'],
    shell: (command) => ({ tool: 'bash', input: { command, description: 'a word', sync: true } }),
    hasHooks: true,
  },
  {
    name: 'continue',
    command: 'cn',
    packages: ['@continuedev/cli'],
    settings: (url) => ({
      '.continue/config.yaml': `name: local
version: 1.0.0
schema: v1
models:
  - name: Claude
    provider: anthropic
    model: claude-sonnet-4-5
    apiKey: sk-ant-none
    apiBase: ${url}/v1/
    roles: [chat, edit, apply]
`,
    }),
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
    args: (prompt, home) => ['--config', `${home}/.continue/config.yaml`, '--auto', '-p', prompt],
    shell: (command) => ({ tool: 'Bash', input: { command } }),
  },
  {
    name: 'grok-build',
    command: 'grok',
    packages: ['@xai-official/grok'],
    env: (url) => ({
      XAI_API_KEY: 'xai-none',
      GROK_XAI_API_BASE_URL: `${url}/v1`,
      GROK_MODELS_BASE_URL: `${url}/v1`,
    }),
    args: (prompt) => ['--always-approve', '-p', prompt],
    shell: (command) => ({ tool: 'run_terminal_command', input: { command, description: 'a word' } }),
  },
  {
    name: 'droid',
    command: 'droid',
    packages: ['droid'],
    settings: (url) => ({
      '.factory/settings.json': JSON.stringify({
        customModels: [
          {
            model: 'claude-sonnet-4-5',
            displayName: 'Loopback',
            baseUrl: url,
            apiKey: 'sk-ant-none',
            provider: 'anthropic',
            maxOutputTokens: 8192,
          },
        ],
      }),
    }),
    env: () => ({ FACTORY_API_KEY: 'fk-none' }),
    args: (prompt) => ['exec', '--auto', 'high', '-m', 'custom:Loopback-0', prompt],
    shell: (command) => ({
      tool: 'Execute',
      input: { command, summary: 'a word', riskLevel: 'low', riskLevelReason: 'a word' },
    }),
  },
  {
    name: 'cline',
    command: 'cline',
    packages: ['cline'],
    env: (url) => ({
      CLINE_TELEMETRY_DISABLED: '1',
      CLINE_NO_AUTO_UPDATE: '1',
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'sk-ant-none',
    }),
    args: (prompt) => [prompt],
    shell: (command) => ({ tool: 'run_commands', input: { commands: [command] } }),
  },
]

/** Gemini CLI and Qwen Code, a fork of it. */
function quiet(more: object, auth: string): string {
  return JSON.stringify({
    security: { auth: { selectedType: auth }, folderTrust: { enabled: false } },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    ...more,
  })
}

/** OpenCode and Kilo CLI, a fork of it. */
function openCode(url: string): string {
  return JSON.stringify({
    autoupdate: false,
    share: 'disabled',
    model: 'anthropic/claude-sonnet-4-5',
    small_model: 'anthropic/claude-haiku-4-5',
    permission: { bash: 'allow', edit: 'allow', webfetch: 'allow' },
    provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'sk-ant-none' } } },
  })
}
