/**
 * A server of tools for agents (MCP, over lines of JSON) that gives what was recorded and never runs anything: the tools that agents were
 * told of in the recording, with their recorded results. What was not recorded is an error that says so.
 */
import { asArray, asObject, asString, isObject, type Json, type JsonObject } from '../transcript/json.ts'
import { VERSION } from '../version.ts'
import type { RecordedTools } from './recorded-tools.ts'
import type { Exchange } from './recording.ts'

export type McpStubOptions = {
  /** Of agents that name tools `mcp__SERVER__TOOL`: those of this server. Without it, tools as they are called. */
  readonly server?: string
  readonly onStubbed?: (name: string) => void
}

export type McpStub = {
  /** The answer to one message; undefined for what wants none. */
  handle(message: Json | undefined): JsonObject | undefined
}

type Tool = { readonly name: string; readonly description?: string; readonly inputSchema: Json }

const NEWEST = '2025-06-18'

export function createMcpStub(
  exchanges: readonly Exchange[],
  recorded: RecordedTools,
  { server, onStubbed }: McpStubOptions = {},
): McpStub {
  const prefix = server === undefined ? '' : `mcp__${server}__`
  const tools = toolsOf(exchanges, recorded, prefix)
  const call = (params: JsonObject): JsonObject => {
    const name = `${prefix}${asString(params['name']) ?? ''}`
    const result = recorded.take({ name, input: params['arguments'] ?? {} })
    onStubbed?.(name)
    const text =
      result?.text ??
      `hansard replay: the recording has no such call of ${name}, and tools do not run in a replay`
    return { content: [{ type: 'text', text }], isError: result?.isError ?? true }
  }
  const answer = (method: string, params: JsonObject): JsonObject | undefined => {
    switch (method) {
      case 'initialize':
        return {
          protocolVersion: asString(params['protocolVersion']) ?? NEWEST,
          capabilities: { tools: {} },
          serverInfo: { name: 'hansard-replay', version: VERSION },
        }
      case 'ping':
        return {}
      case 'tools/list':
        return { tools }
      case 'tools/call':
        return call(params)
      default:
        return undefined
    }
  }
  return {
    handle(message) {
      if (!isObject(message)) return failed(null, -32_700, 'this is no message')
      const [id, method] = [message['id'], asString(message['method'])]
      // A notification, or an answer to what we never asked.
      if (id === undefined || method === undefined) return undefined
      const result = answer(method, asObject(message['params']) ?? {})
      return result === undefined
        ? failed(id, -32_601, `${method.slice(0, 100)} is not known here`)
        : { jsonrpc: '2.0', id, result }
    },
  }
}

function failed(id: Json, code: number, message: string): JsonObject {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

/** As agents were told of them; a tool that was called and never told of takes anything. */
function toolsOf(exchanges: readonly Exchange[], recorded: RecordedTools, prefix: string): readonly Tool[] {
  const found = new Map<string, Tool>()
  for (const name of recorded.names()) add(found, prefix, { name, inputSchema: { type: 'object' } })
  let before: Json | undefined
  for (const { asked } of exchanges) {
    const told = asObject(asked?.()?.body)?.['tools']
    // The same list again and again: not looked at twice.
    if (told === undefined || told === before) continue
    before = told
    for (const one of asArray(told) ?? []) {
      const tool = toTool(asObject(one))
      if (tool !== undefined) add(found, prefix, tool)
    }
  }
  return [...found.values()]
}

function add(found: Map<string, Tool>, prefix: string, tool: Tool): void {
  if (!tool.name.startsWith(prefix)) return
  const name = tool.name.slice(prefix.length)
  found.set(name, { ...tool, name })
}

function toTool(told: JsonObject | undefined): Tool | undefined {
  const inner = asObject(told?.['function']) ?? told
  const name = asString(inner?.['name'])
  if (name === undefined) return undefined
  const description = asString(inner?.['description'])
  const inputSchema = asObject(inner?.['input_schema']) ??
    asObject(inner?.['parameters']) ?? { type: 'object' }
  return { name, ...(description !== undefined && { description }), inputSchema }
}
