// Types, lint and format: what a machine can hold against us. No arguments.
import { install, run, tool } from './prepare.mjs'

install()
run(...tool('typescript/bin/tsc', '--noEmit', '-p', '.'))
run(...tool('typescript/bin/tsc', '--noEmit', '-p', 'src/web'))
run(...tool('typescript/bin/tsc', '--noEmit', '-p', 'test/page.tsconfig.json'))
run(...tool('oxlint/bin/oxlint', '--deny-warnings'))
run(
  ...tool(
    'oxfmt/bin/oxfmt',
    '--check',
    'src',
    'test',
    'bench',
    'vitest.config.ts',
    'vite.config.ts',
    'vite.reader.config.ts',
  ),
)
