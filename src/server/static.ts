/**
 * The page's files, as they were built. What there is, is listed once at the start: a request names one of them or nothing, and no
 * path is made from it. Files with a hash in their name never change.
 */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { extname, join } from 'node:path'
import type { Context } from 'hono'
import type { App } from './context.ts'
import { fail } from './answers.ts'

type PageFile = {
  readonly bytes: Buffer<ArrayBuffer>
  readonly type: string
  readonly etag: string
  readonly isForever: boolean
}

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

const INDEX = '/index.html'

export function registerPage(app: App, folder: string | undefined): void {
  const files = folder === undefined ? new Map<string, PageFile>() : listPage(folder)
  app.get('*', (c) => {
    const file = files.get(c.req.path) ?? (isPageRoute(c.req.path) ? files.get(INDEX) : undefined)
    if (file !== undefined) return give(c, file)
    if (isPageRoute(c.req.path) && files.size === 0) return c.text(NO_PAGE, 404)
    return fail(c, 404, {
      code: 'not-found',
      message: 'there is nothing here',
      hint: 'the page is at /, the API at /api/v1',
    })
  })
}

const NO_PAGE = 'The page of this server was not built. The API is at /api/v1.\n'

/** Views of the page have names without a dot in their last part. */
const isPageRoute = (path: string): boolean => !path.startsWith('/api/') && !/\.[^/]*$/.test(path)

function give(c: Context, { bytes, type, etag, isForever }: PageFile): Response {
  const headers = {
    'content-type': type,
    etag,
    'cache-control': isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
  if (c.req.header('if-none-match') === etag) return c.body(null, 304, headers)
  return c.body(bytes, 200, headers)
}

/** By the path under which a browser asks for it. Read at once: the page is small. */
function listPage(folder: string): ReadonlyMap<string, PageFile> {
  if (!fs.existsSync(join(folder, INDEX))) return new Map()
  const found = fs.readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    found.flatMap((item): [string, PageFile][] => {
      const type = TYPES[extname(item.name)]
      if (!item.isFile() || type === undefined) return []
      const path = join(item.parentPath, item.name)
      const name = `/${path.slice(folder.length).replaceAll('\\', '/').replace(/^\/+/, '')}`
      const bytes =
        name === INDEX ? withRootedPaths(fs.readFileSync(path)) : Buffer.from(fs.readFileSync(path))
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
      return [[name, { bytes, type, etag, isForever: /-[\w-]{8,}\.\w+$/.test(name) }]]
    }),
  )
}

/** Built to be opened from anywhere, served for views of any depth. */
function withRootedPaths(html: Buffer): Buffer<ArrayBuffer> {
  return Buffer.from(html.toString('utf8').replaceAll(/(src|href)="\.\//g, '$1="/'))
}
