// One file per command instead of a hundred modules: what makes `hansard --help` start in little more than Node.js itself.
import { chmodSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { root } from './prepare.mjs'

const bundle = await rolldown({
  // Workers are files of their own: threads are started by a file's name.
  input: {
    hansard: `${root}/dist/src/cli/main.js`,
    'unit-worker': `${root}/dist/src/sources/unit-worker.js`,
    'index-worker': `${root}/dist/src/search/index-worker.js`,
  },
  platform: 'node',
  // zod stays outside: only commands that read configuration or standard input load it.
  // libsql too: it is loaded only for a database, by a Node without SQLite, and finds its binary beside itself.
  external: ['zod', 'libsql'],
  logLevel: 'warn',
})
await bundle.write({
  dir: `${root}/dist/bin`,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name]-[hash].js',
  minify: false,
  sourcemap: false,
  banner: (chunk) => (chunk.name === 'hansard' ? '#!/usr/bin/env node' : ''),
})
await bundle.close()
chmodSync(`${root}/dist/bin/hansard.js`, 0o755)
