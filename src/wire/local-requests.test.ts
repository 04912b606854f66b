import { describe, expect, it } from 'vitest'
import { refusalOf } from './local-requests.ts'

const LOCAL = { host: '127.0.0.1:4141' }
const statusOf = (headers: Readonly<Record<string, string>>): number | undefined =>
  refusalOf({ headers, rawHeaders: Object.entries(headers).flat() })?.status

describe('a server without a token', () => {
  it.each([
    ['a program', {}],
    ['a program under another local name', { host: 'LOCALHOST:1' }],
    ['fetch of Node.js', { 'sec-fetch-mode': 'cors' }],
    ['a person who types the address', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
    ['a webview of VS Code', { origin: 'vscode-webview://0ab1', 'sec-fetch-site': 'cross-site' }],
    ['a desktop app', { origin: 'app://obsidian.md', 'sec-fetch-site': 'cross-site' }],
  ])('answers %s', (_, headers) => {
    expect(statusOf({ ...LOCAL, ...headers })).toBeUndefined()
  })

  it.each([
    ['a web page', { origin: 'https://evil.example' }],
    ['a page on another port of this machine', { origin: 'http://127.0.0.1:8080' }],
    ['a page that hides its origin', { origin: 'null' }],
    ['a page with an origin that is none', { origin: 'file:' }],
    ['a picture in a page', { 'sec-fetch-site': 'cross-site' }],
    ['a picture in a page of this machine', { 'sec-fetch-site': 'same-site' }],
    ['a name that points here', { host: 'evil.example:4141' }],
    ['no name', { host: '' }],
  ])('refuses %s', (_, headers) => {
    expect(statusOf({ ...LOCAL, ...headers })).toBe(403)
  })

  it('refuses two names', () => {
    expect(
      refusalOf({ headers: LOCAL, rawHeaders: ['Host', 'localhost', 'host', 'localhost'] })?.status,
    ).toBe(400)
  })
})
