/** The reader for exported sessions: one script and one style, to be put into a file. The same views as the page's, with other doors. */
import { join, resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

const web = join(import.meta.dirname, 'src/web')
/** Modules of the page that reach out, and what takes their place in a file. */
const DOORS = new Map(
  ['api.ts', 'live.ts', 'router.ts'].map((name) => [join(web, name), join(web, 'reader', name)]),
)

const otherDoors: Plugin = {
  name: 'other-doors',
  enforce: 'pre',
  resolveId(id, from) {
    if (!id.startsWith('.') || from === undefined) return undefined
    return DOORS.get(resolve(from, '..', id))
  },
}

export default defineConfig({
  root: web,
  publicDir: false,
  plugins: [otherDoors],
  build: {
    outDir: join(import.meta.dirname, 'dist/web/reader'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: 'es2022',
    cssCodeSplit: false,
    rollupOptions: {
      // Vite's loader of chunks asks where it is; there are no chunks.
      transform: { define: { 'import.meta': '{}' } },
      input: join(web, 'reader/main.tsx'),
      output: {
        format: 'iife',
        entryFileNames: 'reader.js',
        assetFileNames: 'reader.[ext]',
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})
