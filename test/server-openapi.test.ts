/** The OpenAPI document: valid by OpenAPI's own schema, complete, and true of every path in it. */
import fs from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../src/server/app.ts'
import { ENDPOINTS } from '../src/server/endpoints.ts'
import { endpointsOf } from '../src/server/openapi.ts'
import { AGAIN, LEFT, serveRuns, type ServedRuns } from './run-archive.ts'
import { ask, FIRST, log, type Reply } from './serving.ts'

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

let served: ServedRuns
let document: OpenApi
/** Checks answers by the document alone, as a program of somebody else would. */
let schemas: Ajv2020
beforeAll(async () => {
  served = await serveRuns({ write: true }, (home) => {
    const logs = join(home, '.claude', 'projects', '-work-shop')
    fs.mkdirSync(logs, { recursive: true })
    fs.writeFileSync(join(logs, `${FIRST}.jsonl`), log(FIRST, 'fix the login', 3))
  })
  document = JSON.parse((await request('/api/v1/openapi.json')).text) as OpenApi
  schemas = new Ajv2020({ strict: false, allErrors: true })
  schemas.addSchema({ ...document, $id: 'document' })
})
afterAll(() => served.close())

function request(path: string, method = 'GET'): Promise<Reply> {
  const body = method === 'POST' ? '{}' : undefined
  return ask(served.server.port, {
    path,
    method,
    headers: {
      authorization: `Bearer ${served.server.token}`,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': '2' }),
    },
    ...(body !== undefined && { body }),
  })
}

function validatorOf(name: string): ValidateFunction {
  const found = schemas.getSchema(`document#/components/schemas/${name}`)
  if (found === undefined) throw new Error(`no schema ${name}`)
  return found
}

const operations = (): readonly (readonly [path: string, method: string, operation: Operation])[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [path, method, operation] as const),
  )

describe('the document', () => {
  it("is valid by OpenAPI's schema, and its schemas by JSON Schema's", async () => {
    const validator = new Validator()
    const found = await validator.validate(structuredClone(document))
    expect(found.errors ?? []).toEqual([])
    expect([found.valid, validator.version]).toEqual([true, '3.1'])
    for (const [name, schema] of Object.entries(document.components.schemas))
      expect(schemas.validateSchema(schema), name).toBe(true)
    const broken = { ...structuredClone(document), info: { title: 'Hansard' } }
    expect((await new Validator().validate(broken)).valid).toBe(false)
  })

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
  /** What its parts are called in this archive. */
  const valuesOf = (path: string, session: string, hash: string): Readonly<Record<string, string>> => ({
    id: path.includes('/runs/') ? LEFT : session,
    position: '0',
    other: AGAIN,
    hash,
  })
  const QUERIES: Readonly<Record<string, readonly string[]>> = { as: ['html', 'md', 'json'] }
  const GIVEN: Readonly<Record<string, string>> = {
    q: 'login',
    sequence: '0',
    path: 'blocks.0.text',
    call: 'nobody',
  }

  it('answers what is asked of it, as the document says', async () => {
    const { sessions } = JSON.parse((await request('/api/v1/sessions?q=agent:claude-code')).text) as {
      sessions: readonly { id: string }[]
    }
    const { blob: hash } = served.archive.blobs.write(Buffer.from('large content'), 'text/plain')
    const asked = new Set<string>()
    for (const { method, path, query, answer, types } of endpointsOf(createApp(served.server.context))) {
      const documented = path.replaceAll(/:(\w+)/g, '{$1}')
      asked.add(documented)
      if (path.endsWith('/live')) continue
      const values = valuesOf(path, sessions[0]?.id ?? '', hash)
      const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(values[name] ?? ''))
      const names = Object.keys(query?.shape ?? {})
      const known = { ...GIVEN, a: sessions[0]?.id ?? '', b: sessions[0]?.id ?? '' }
      const given = Object.entries(known).filter(([name]) => names.includes(name))
      const [varied] = names.filter((name) => QUERIES[name] !== undefined)
      for (const value of varied === undefined ? [undefined] : (QUERIES[varied] ?? [])) {
        const all = Object.fromEntries([...given, ...(value === undefined ? [] : [[varied ?? '', value]])])
        const q =
          Object.keys(all).length === 0
            ? ''
            : `?${String(new URLSearchParams(all as Record<string, string>))}`
        const reply = await request(filled + q, method.toUpperCase())
        expect(reply.status, `${filled}${q}: ${reply.text.slice(0, 300)}`).toBe(200)
        const type = (reply.headers['content-type'] ?? '').split(';', 1)[0]
        expect(types ?? ['application/json'], `${filled}${q}`).toContain(type)
        if (answer === undefined) {
          expect(reply.text.length, filled).toBeGreaterThan(0)
          continue
        }
        const body: unknown = JSON.parse(reply.text)
        expect(answer[1].safeParse(body).error?.issues ?? [], path).toEqual([])
        const isValid = validatorOf(answer[0])
        expect(isValid(body), `${path}: ${schemas.errorsText(isValid.errors)}`).toBe(true)
      }
    }
    expect([...asked].sort()).toEqual(Object.keys(document.paths).sort())
  })

  it('says what there is not as the document says', async () => {
    const isError = validatorOf('Error')
    for (const { method, path, query } of endpointsOf(createApp(served.server.context))) {
      if (!path.includes(':')) continue
      const given = Object.entries(GIVEN).filter(([name]) => name in (query?.shape ?? {}))
      const q = `?${String(new URLSearchParams(Object.fromEntries(given)))}`
      const reply = await request(path.replaceAll(/:(\w+)/g, 'nobody') + q, method.toUpperCase())
      expect(reply.status, path).toBe(404)
      expect(isError(JSON.parse(reply.text)), reply.text).toBe(true)
    }
  })

  it('is listened to where it goes on', async () => {
    const { port, token } = served.server
    const [status, type, text] = await new Promise<readonly [number, string, string]>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      http
        .get({ host: '127.0.0.1', port, path: '/api/v1/live', headers, agent: false }, (response) => {
          response.once('data', (chunk: Buffer) => {
            response.destroy()
            resolve([response.statusCode ?? 0, response.headers['content-type'] ?? '', String(chunk)])
          })
        })
        .on('error', reject)
    })
    expect([status, type]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect(text).toMatch(/^retry: \d+\nid: \S+\n\n/)
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
