/** Completion as shells do it: each script is loaded into its shell, where that is installed, and asked. */
import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createProgram } from '../program/program.ts'
import { toBash } from './bash.ts'
import { toFish } from './fish.ts'
import { completedCommands } from './words.ts'
import { toZsh } from './zsh.ts'

const commands = completedCommands(createProgram())
const folder = fs.mkdtempSync(join(os.tmpdir(), 'hansard-completion-'))

/** In place of the program: what it would say of the archive, with an id that no shell may take for its own words. */
const ANSWERS = ['0192-aa\t2026-01-31 completed', '0192-bb', '$(touch harmed)`touch harmed`']
const STUB = `hansard() { if [ "$2" = formats ]; then echo devflow; echo gemini-cli; elif [ "$2" = targets ]; then echo devflow; else printf '%s\\n' ${ANSWERS.map((line) => `'${line}'`).join(' ')}; fi; }`

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0

beforeAll(() => {
  fs.writeFileSync(join(folder, 'a file.jsonl'), '')
  fs.mkdirSync(join(folder, 'a-folder'))
  fs.writeFileSync(join(folder, 'bash'), toBash(commands))
  fs.writeFileSync(join(folder, 'zsh'), toZsh(commands))
  fs.writeFileSync(join(folder, 'fish'), toFish(commands))
})

/** What each of these shells offers for the last of some words. */
const SHELLS: Readonly<Record<string, (words: readonly string[]) => string[]>> = {
  bash(words) {
    const typed = ['hansard', ...words].map((word) => `'${word}'`).join(' ')
    const code = `${STUB}; source ./bash; COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; _hansard; printf '%s\\n' "\${COMPREPLY[@]}"`
    return linesOf(execFileSync('bash', ['--norc', '-c', code], { cwd: folder, encoding: 'utf8' }))
  },
  // Its own completers only run while somebody types: these stand in for them.
  zsh(words) {
    const typed = ['hansard', ...words].map((word) => `'${word}'`).join(' ')
    const code = `${STUB}
      compdef() { :; }
      compset() { PREFIX=\${PREFIX#*=}; }
      compadd() { shift; for one in "$@"; do [[ $one == $PREFIX* ]] && print -r -- "$one"; done; }
      _describe() { for one in "\${(@P)3}"; do [[ $one == $PREFIX* ]] && print -r -- "\${one%%:*}"; done; }
      _files() { if [[ $1 == -/ ]]; then print -rl -- *(N/); else print -rl -- *(N); fi; }
      source ./zsh; words=(${typed}); CURRENT=${words.length + 1}; PREFIX=\${words[CURRENT]}; _hansard; true`
    return linesOf(execFileSync('zsh', ['-f', '-c', code], { cwd: folder, encoding: 'utf8' }))
  },
  fish(words) {
    const stub = `function hansard; if test "$argv[2]" = formats; printf '%s\\n' devflow gemini-cli; else if test "$argv[2]" = targets; echo devflow; else; printf '%s\\n' ${ANSWERS.map((line) => `'${line}'`).join(' ')}; end; end`
    const typed = ['hansard', ...words].join(' ')
    const code = `${stub}; source ./fish; complete -C '${typed}'`
    const offered = execFileSync('fish', ['--no-config', '-c', code], { cwd: folder, encoding: 'utf8' })
    return linesOf(offered).map((line) => line.split('\t')[0] ?? '')
  },
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

describe.each(Object.keys(SHELLS).filter(isInstalled))('in %s', (shell) => {
  const offers = (...words: string[]): string[] => SHELLS[shell]?.(words) ?? []

  it('commands are completed, and those below them', () => {
    expect(offers('')).toEqual(expect.arrayContaining(['list', 'show', 'cost', 'sync', 'completion']))
    expect(offers('')).not.toContain('complete')
    expect(offers('sy')).toEqual(['sync'])
    expect(offers('cost', 'ex')).toEqual(['explain'])
    expect(offers('completion', 'z')).toEqual(['zsh'])
  })

  it('flags are those of the command', () => {
    expect(offers('show', '--a')).toEqual(expect.arrayContaining(['--as', '--all']))
    expect(offers('show', '--a')).not.toContain('--to')
    expect(offers('clean', '--pa')).toEqual(['--pack'])
    expect(offers('cost', 'explain', '--ho')).toEqual(['--home'])
    expect(offers('list', '--no-c')).toEqual(['--no-color'])
  })

  it('values are those that a flag takes', () => {
    expect(offers('show', '--as', 'h')).toEqual(['html'])
    expect(offers('list', '--status', 'fa')).toEqual(['failed'])
    expect(offers('show', '--format', 'gem')).toContain('gemini-cli')
    expect(offers('list', '--home', 'a')).toContain(shell === 'fish' ? 'a-folder/' : 'a-folder')
    expect(offers('list', '--home', 'a').join()).not.toContain('a file')
  })

  it('formats to write are those that can be written', () => {
    expect(offers('convert', 'x', '--to', 'd')).toContain('devflow')
    for (const words of [
      ['convert', 'x', '--to'],
      ['record', '--format'],
    ])
      expect(offers(...words, 'gem')).not.toContain('gemini-cli')
  })

  it('sessions come from the archive, and files with them; nothing of theirs is run', () => {
    expect(offers('show', '0192')).toEqual(expect.arrayContaining(['0192-aa', '0192-bb']))
    expect(offers('show', '').join('\n')).toMatch(/a(?: |\\ )file\.jsonl/)
    expect(offers('cost', 'explain', '0192-a')).toContain('0192-aa')
    expect(fs.existsSync(join(folder, 'harmed'))).toBe(false)
  })
})

describe('bash', () => {
  it('completes a value after an equals sign, which readline takes for a word', () => {
    expect(SHELLS['bash']?.(['show', '--as', '=', 'm'])).toEqual(['md'])
    expect(SHELLS['bash']?.(['show', '--as', '='])).toEqual(['text', 'md', 'html', 'json'])
  })

  it('parses its script, and that of zsh, which keeps to what both know', () => {
    expect(spawnSync('bash', ['-n', 'bash'], { cwd: folder, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
    expect(spawnSync('bash', ['-n', 'zsh'], { cwd: folder, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
  })
})

describe('every script', () => {
  it.each(['bash', 'zsh', 'fish'])('of %s names every command and every flag', (shell) => {
    const script = fs.readFileSync(join(folder, shell), 'utf8')
    for (const { path, options } of commands) {
      for (const name of path) expect(script).toContain(name)
      for (const { names } of options)
        for (const name of names) expect(script).toContain(shell === 'fish' ? name.replace(/^--?/, '') : name)
    }
  })

  it('of fish has a line for each word, with its quotes closed', () => {
    const lines = linesOf(fs.readFileSync(join(folder, 'fish'), 'utf8')).filter((line) =>
      line.startsWith('complete'),
    )
    expect(lines.length).toBeGreaterThan(100)
    const quoted = String.raw`'(?:[^'\\]|\\.)*'`
    const line = new RegExp(`^complete -c hansard(?: -[a-zF]| [\\w-]+| ${quoted})+$`)
    for (const one of lines) expect(one).toMatch(line)
  })
})
