/** The OpenAPI document: well formed, complete, and true of every path in it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../src/server/app.ts'
import { ENDPOINTS } from '../src/server/endpoints.ts'
import { endpointsOf } from '../src/server/openapi.ts'
import { ask, serveSample, type Served } from './serving.ts'

type Json = { readonly [key: string]: Json } & { readonly $ref?: string }
type Operation = {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly schema: object
  }[]
  readonly responses: {
    readonly [status: string]: { readonly description: string; readonly content: object }
  }
}
type OpenApi = {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string }
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } }
  readonly components: { readonly schemas: { readonly [name: string]: Json } }
}

let served: Served
let document: OpenApi
beforeAll(async () => {
  served = await serveSample({ write: true })
  document = await served.json<OpenApi>('/api/v1/openapi.json')
})
afterAll(() => served.close())

const operations = (): readonly (readonly [path: string, method: string, operation: Operation])[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [path, method, operation] as const),
  )

describe('the document', () => {
  it('is one of OpenAPI 3.1, with all that must be in it', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/)
    expect(document.info).toMatchObject({ title: 'Hansard', version: expect.any(String) as string })
    for (const [path, method, { operationId, responses }] of operations()) {
      expect(path).toMatch(/^\/api\/[^:?#]+$/)
      expect(['get', 'post']).toContain(method)
      expect(operationId).toMatch(/^[a-z]\w+$/i)
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '500']))
      for (const { description, content } of Object.values(responses)) {
        expect(description).not.toBe('')
        expect(Object.keys(content).length).toBeGreaterThan(0)
      }
    }
    const ids = operations().map(([, , { operationId }]) => operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('names in its parameters exactly what its paths leave open', () => {
    for (const [path, , { parameters = [] }] of operations()) {
      const open = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name)
      const named = parameters.filter((one) => one.in === 'path')
      expect(named.map(({ name }) => name)).toEqual(open)
      expect(named.every(({ required }) => required)).toBe(true)
      const keys = parameters.map((one) => `${one.in} ${one.name}`)
      expect(new Set(keys).size).toBe(keys.length)
    }
  })

  it('refers to nothing that is not in it', () => {
    const refs = new Set<string>()
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      if ('$ref' in value && typeof value.$ref === 'string') refs.add(value.$ref)
      for (const inner of Object.values(value)) visit(inner)
    }
    visit(document)
    expect(refs.size).toBeGreaterThan(3)
    for (const ref of refs) expect(resolve(ref), ref).toBeDefined()
  })

  it('tells of every path that there is, and of the whole contract', () => {
    const app = createApp(served.server.context)
    const routes = app.routes.filter(({ path, method }) => path.startsWith('/api/v1/') && method !== 'ALL')
    const told = new Set(ENDPOINTS.map(({ method, path }) => `${method} ${path}`))
    expect(
      routes.map(({ method, path }) => `${method.toLowerCase()} ${path}`).filter((route) => !told.has(route)),
    ).toEqual([])
    expect(Object.keys(document.paths)).toHaveLength(endpointsOf(app).length)
  })
})

describe('every path in it', () => {
  it('answers as the document says', async () => {
    const { port, token } = served.server
    const { sessions } = await served.json<{ sessions: readonly { id: string }[] }>('/api/v1/sessions')
    const values: Readonly<Record<string, string>> = {
      id: sessions[0]?.id ?? '',
      position: '0',
      other: 'x',
      hash: 'x',
    }
    const asked = new Set<string>()
    for (const { method, path, query, answer } of endpointsOf(createApp(served.server.context))) {
      asked.add(path.replaceAll(/:(\w+)/g, '{$1}'))
      if (path.endsWith('/live')) continue
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? '')
      const given = { q: 'login', sequence: '0' }
      const asking = Object.entries(given).filter(([name]) => query !== undefined && name in query.shape)
      const q = asking.length === 0 ? '' : `?${String(new URLSearchParams(asking))}`
      const reply = await ask(port, {
        path: filled + q,
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(method === 'post' && {
          body: '{}',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'content-length': '2',
          },
        }),
      })
      const isOfRun = path.includes('/runs/') || path.includes('/blobs/')
      expect(reply.status, `${filled}${q}: ${reply.text.slice(0, 300)}`).toBe(isOfRun ? 404 : 200)
      if (answer !== undefined && reply.status === 200) {
        const parsed = answer[1].safeParse(JSON.parse(reply.text))
        expect(parsed.error?.issues ?? [], path).toEqual([])
      }
    }
    expect([...asked].sort()).toEqual(Object.keys(document.paths).sort())
  })

  it('is listened to where it goes on', async () => {
    const reply = await ask(served.server.port, {
      path: '/api/v1/live',
      method: 'HEAD',
      headers: { authorization: `Bearer ${served.server.token}` },
    })
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8'])
  })
})

function resolve(ref: string): unknown {
  let at: unknown = document
  for (const part of ref.replace(/^#\//, '').split('/')) {
    if (typeof at !== 'object' || at === null) return undefined
    at = (at as Record<string, unknown>)[part]
  }
  return ref.startsWith('#/') ? at : undefined
}
