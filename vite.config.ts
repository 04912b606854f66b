/** The page: src/web to dist/web, as the server gives it out. One script for what is always needed; the rest is loaded when it is. */
import { join } from 'node:path'
import { defineConfig } from 'vite'

export default defineConfig({
  root: join(import.meta.dirname, 'src/web'),
  base: './',
  // Nothing inline: the page's policy allows scripts, styles and fonts only as files of its own.
  build: {
    outDir: join(import.meta.dirname, 'dist/web'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})
