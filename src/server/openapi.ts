/** The OpenAPI document of the server: made from the schemas that check what comes and say what goes, of the paths that it has. */
import { z } from 'zod'
import { VERSION } from '../version.ts'
import { answer } from './answers.ts'
import { errorSchema } from './api.ts'
import type { App } from './context.ts'
import { ENDPOINTS, type Endpoint } from './endpoints.ts'
import { PASS } from './session-token.ts'

type JsonSchema = Record<string, unknown>

/** Called after the routes of which it tells. */
export function registerOpenApi(app: App): void {
  let document: object | undefined
  app.get('/api/v1/openapi.json', (c) => answer(c, (document ??= toOpenApi(endpointsOf(app)))))
}

/** Of the contract, what this server has. */
export function endpointsOf(app: App): readonly Endpoint[] {
  const has = new Set(app.routes.map(({ method, path }) => `${method.toLowerCase()} ${path}`))
  return ENDPOINTS.filter(({ method, path }) => has.has(`${method} ${path}`))
}

export function toOpenApi(endpoints: readonly Endpoint[]): object {
  const paths: Record<string, Record<string, object>> = {}
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [endpoint.method]: toOperation(endpoint) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Hansard',
      version: VERSION,
      description:
        'What AI agents did, read from the archive of this machine. Everything here has passed the redactor.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { pass: [] }],
    paths,
    components: {
      schemas: toSchemas(endpoints),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: "The token in the archive's folder" },
        pass: { type: 'apiKey', in: 'query', name: PASS, description: "The page's own, for a day" },
      },
    },
  }
}

/** Answered by every path. */
const FAILURES: Readonly<Record<number, string>> = {
  400: 'The question is wrong',
  401: 'The token is missing',
  403: 'Not from here, or not allowed',
  404: 'There is no such thing',
  409: 'Several are meant, or another process is at work',
  429: 'Too many are listening',
  500: 'Something went wrong',
}
const OF_ALL = [400, 401, 403, 500]

function toOperation({
  method,
  path,
  summary,
  query,
  answer: answered,
  types = [],
  failures = [],
}: Endpoint): object {
  const content =
    answered === undefined
      ? Object.fromEntries(types.map((type) => [type, { schema: {} }]))
      : { 'application/json': { schema: { $ref: refOf(answered[0]) } } }
  const asError = { content: { 'application/json': { schema: { $ref: refOf('Error') } } } }
  const failed = [...OF_ALL, ...failures].map((status) => [
    String(status),
    { description: FAILURES[status] ?? 'It cannot be done', ...asError },
  ])
  return {
    operationId: `${method}${path.replaceAll(/[^A-Za-z]+(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    ...((path.includes(':') || query !== undefined) && {
      parameters: [...pathParameters(path), ...queryParameters(query)],
    }),
    ...(method === 'post' && {
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    }),
    responses: {
      '200': { description: summary, content },
      ...Object.fromEntries(failed),
      default: {
        description: 'Refused before it was looked at: its size, its method or its path',
        ...asError,
      },
    },
  }
}

function pathParameters(path: string): readonly object[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: name === 'position' ? { type: 'integer', minimum: 0 } : { type: 'string' },
  }))
}

function queryParameters(query: z.ZodObject | undefined): readonly object[] {
  if (query === undefined) return []
  const { properties, required = [] } = z.toJSONSchema(query, { io: 'input' })
  return Object.entries(properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

const refOf = (name: string): string => `#/components/schemas/${name}`

/** Those that name others, or themselves, do so by reference. */
function toSchemas(endpoints: readonly Endpoint[]): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  registry.add(errorSchema, { id: 'Error' })
  for (const { answer: answered } of endpoints)
    if (answered !== undefined && !registry.has(answered[1])) registry.add(answered[1], { id: answered[0] })
  const { schemas } = z.toJSONSchema(registry, { uri: refOf })
  const isOfSchema = ([key]: readonly [string, unknown]): boolean => key !== '$schema' && key !== '$id'
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      Object.fromEntries(Object.entries(schema).filter(isOfSchema)),
    ]),
  )
}
