/** What a session did, without the secrets that are in names of files and tools. */
import type { SessionWork } from './work.ts'

type Redact = (text: string) => string

export function safeWork(work: SessionWork, text: Redact, name: Redact): SessionWork {
  const keyed = <T>(object: { readonly [key: string]: T }, safe: Redact): { readonly [key: string]: T } => {
    const entries = Object.entries(object).map(([key, value]) => [safe(key), value] as const)
    return Object.assign(Object.create(null), Object.fromEntries(entries)) as { readonly [key: string]: T }
  }
  return {
    ...work,
    tools: work.tools.map(name),
    files: keyed(work.files, text),
    rest: keyed(work.rest, name),
    findings: work.findings.map((finding) => ({
      ...finding,
      tool: name(finding.tool),
      ...(finding.file !== undefined && { file: text(finding.file) }),
    })),
  }
}
