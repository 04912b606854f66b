/**
 * What people ask of a format before they read its page: the versions its reader was made for, what its token counts mean, and what of a
 * session it does not hold. `docs/formats/README.md` is made of it.
 */
export type About = {
  /** Versions of the program that writes it, or of its layout; `by its source` where no real file was at hand. */
  readonly seen: string
  /** Which side the counts are on, and of what. */
  readonly counts: string
  readonly lost: string
}

const about = (seen: string, counts: string, lost: string): About => ({ seen, counts, lost })

/** By the format's id. */
export const ABOUT: ReadonlyMap<string, About> = new Map([
  ['devflow', about('the seed', 'sums of a run, cache apart', 'see its page: what it cannot hold')],
  ['weakincentives', about('the seed', 'a message’s, as given', 'see its page: what it cannot hold')],
  ['leslie', about('the seed', 'none', 'all but text and calls')],
  [
    'entire',
    about(
      'the seed; CLI 0.4 to 0.7',
      'the agent’s own; compact lines state a call’s',
      'subagents’ own files',
    ),
  ],
  ['swarm', about('the seed; Flow Studio', 'a step’s receipt', 'see its page: what it cannot hold')],
  [
    'claude-code',
    about('1.0.35 to 2.1.197', 'a call’s, cache apart; the last line of a message wins', 'nothing'),
  ],
  ['codex', about('legacy to 0.166', 'running totals, cache inside the input', 'nothing')],
  ['pi', about('v1 to v3', 'a call’s, cache apart', 'nothing')],
  [
    'gemini-cli',
    about(
      '0.1 to 0.4x',
      'a call’s, cache inside the input, thoughts beside the output',
      'the folder: only its hash',
    ),
  ],
  [
    'opencode',
    about('0.x to 1.18', 'a message’s, cache apart; reasoning changed sides in 1.3.16', 'nothing'),
  ],
  ['kilo', about('7.7', 'a message’s, cache apart', 'nothing')],
  [
    'copilot-cli',
    about(
      '0.0.3xx to 1.0.x',
      'output of a message; the rest when a session is shut down',
      'counts of a session that crashed',
    ),
  ],
  [
    'cursor',
    about(
      'agent transcripts, 0.4x to 3',
      'mostly zeros, which say nothing',
      'results and models of agent transcripts',
    ),
  ],
  [
    'cline',
    about(
      'Cline to 3.5x, Roo to 3.29',
      'a request’s, cache apart or inside by version',
      'durations of tools',
    ),
  ],
  [
    'qwen',
    about(
      '0.21',
      'a call’s, cache inside the prompt, thoughts beside the output',
      'times and counts of the daemon’s events',
    ),
  ],
  ['kimi', about('protocol 1', 'a step’s, cache apart', 'nothing')],
  ['iflow', about('1.0.0', 'zeros, which say nothing', 'counts')],
  ['grok', about('a history of Grok 4.5', 'none', 'times')],
  ['dsh', about('samples of 2026', 'an answer’s, cache apart', 'nothing')],
  [
    'openclaw-telemetry',
    about('two files of 2026', 'an answer’s, cache apart', 'the last answers of a run that crashed'),
  ],
  [
    'openai-chat',
    about(
      'the API of 2026, batches, training sets',
      'a call’s, cache inside the prompt',
      'all but messages, as we write it',
    ),
  ],
  [
    'anthropic-messages',
    about('the API of 2026', 'a call’s, cache apart', 'all but messages, as we write it'),
  ],
  [
    'openai-responses',
    about('the API of 2026', 'a call’s, cache inside the input', 'what `previous_response_id` names'),
  ],
  [
    'gemini-contents',
    about('the API of 2026', 'a call’s, cache inside the prompt, thoughts beside the output', 'nothing'),
  ],
  ['provider-sse', about('the APIs of 2026', 'a call’s, as its API has it', 'what was asked')],
  [
    'anthropic-managed-agents',
    about('the beta of July 2026', 'a request’s, cache apart', 'the model, without `sessions.create`'),
  ],
  [
    'vercel-ui-messages',
    about('versions 4 to 7', 'where a program puts them, of all steps', 'all but messages, as we write it'),
  ],
  [
    'claude-stream-json',
    about('2.1', 'a message’s beginning; the result has the sums, cache apart', 'counts, without a result'),
  ],
  ['gemini-stream-json', about('0.25', 'sums of a run, cache inside the input', 'which call took what')],
  [
    'codex-tui-log',
    about(
      'August 2025',
      'running totals, cache inside the input',
      'what a person typed, where it is only keys',
    ),
  ],
  [
    'generic',
    about('gptme, vibe, Posit, ShareGPT, tau-bench', 'what stands near a message, estimated', 'nothing'),
  ],
  [
    'har',
    about('HAR 1.2, claude-trace', 'a call’s, as its API has it', 'keys in headers, left out on purpose'),
  ],
  ['chatgpt-export', about('by its readers’ source, 2026', 'none', 'what is behind a file’s name')],
  [
    'claude-export',
    about('by its readers’ source, 2026', 'none', 'models, mostly; what is behind a file’s name'),
  ],
  ['raw', about('anything', 'none', 'what it means')],
  ['droid', about('0.81, samples', 'sums of a session, cache apart', 'counts of a call')],
  ['antigravity', about('June 2026, samples', 'none', 'names of calls; the editor’s own conversations')],
  [
    'hermes',
    about(
      'April 2026, samples; its database by its source',
      'sums of a session, cache apart',
      'counts of a call',
    ),
  ],
  [
    'aider',
    about(
      '0.86',
      'rounded, a message’s, cache inside what was sent',
      'times, and what marks stand for in an answer',
    ),
  ],
  ['amp', about('by its readers’ source, 2026', 'a message’s, cache apart', 'costs: credits are no dollars')],
  [
    'continue',
    about('by its source, 2026', 'a message’s, cache inside the prompt, apart for Anthropic’s', 'times'),
  ],
  [
    'goose',
    about(
      'schemas 5 to 15 by its source, logs of 1.0',
      'sums of a session, cache inside the input',
      'counts of a call',
    ),
  ],
  [
    'openhands',
    about(
      '0.9 to software-agent-sdk 1.x',
      'litellm’s, cache inside the prompt; running totals are taken apart',
      'time zones',
    ),
  ],
  [
    'swe-agent',
    about('0.6 to 1.1', 'sums of a run, cache not told apart', 'times; the prompt that each step repeats'),
  ],
  ['mini-swe-agent', about('to 1.17', 'a call’s, cache inside the prompt', 'times before 1.0')],
  [
    'atif',
    about('v1.5 to v1.7', 'a step’s, cache inside the prompt; sums stated', 'nothing, as we write it'),
  ],
  ['atof', about('0.1', 'a provider’s own', 'nothing')],
  ['inspect', about('0.3.43 to 0.3.133', 'a call’s, cache apart, inside before', 'copies of messages')],
  [
    'langsmith',
    about('SDKs of 0.1.x, API exports', 'a model run’s, cache inside the input; parents are sums', 'nothing'),
  ],
  [
    'otel',
    about('Visual Studio 18, Phoenix 2026', 'a call’s, cache inside the input; agents are sums', 'nothing'),
  ],
])
