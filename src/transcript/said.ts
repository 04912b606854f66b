/**
 * What a person said in a text that a program put context around: reminders, the surroundings, the words of a command, all as markup.
 * Undefined where nothing of it is a person's.
 */
const LONGEST = 200_000
const TAG = /^<([a-z][\w:.-]{0,80})(?:[ \t\n][^<>]{0,1000})?>/i
/** Markup that holds what was asked, rather than what goes with it. */
const REQUEST = /^(?:user[_-]?(?:request|query|message|prompt|input)|task|feedback)$/i
/** What begins with these is a program's to its end: of commands that ran, and tasks that ended. */
const PROGRAMS = /^(?:task-notification|local-command-|bash-)/i
/** Facts that a gateway puts before a message, in a block of JSON. */
const FACTS = /^[^\n]{0,80} \(untrusted[^\n)]{0,60}\):\n```json\n/
/** Where an editor's own part ends. */
const AFTER_CONTEXT = '## My request for Codex:'

export function saidText(text: string): string | undefined {
  let rest = headOf(text).trimStart()
  const [command, args] = [inside(rest, 'command-name'), inside(rest, 'command-args')]
  // One alone, such as /clear, asks nothing of the agent.
  if (command !== undefined) return args === undefined ? undefined : `${command} ${args}`
  for (let tag = TAG.exec(rest); tag !== null; tag = TAG.exec(rest)) {
    const [opening, name = ''] = tag
    const end = rest.indexOf(`</${name}`, opening.length)
    if (PROGRAMS.test(name)) return undefined
    // What is never closed is no markup: somebody writes about a <tag>. Unless it stands on a line of its own, or its end is too far
    // away to be seen.
    if (end === -1) return text.length > LONGEST || rest[opening.length] === '\n' ? undefined : rest
    if (REQUEST.test(name)) return rest.slice(opening.length, end).trim() || undefined
    const closed = rest.indexOf('>', end)
    rest = closed === -1 ? '' : rest.slice(closed + 1).trimStart()
  }
  for (let facts = FACTS.exec(rest); facts !== null; facts = FACTS.exec(rest)) {
    const end = rest.indexOf('\n```', facts[0].length - 1)
    rest = end === -1 ? '' : rest.slice(end + 4).trimStart()
  }
  const asked = rest.startsWith('# Context') ? rest.indexOf(AFTER_CONTEXT) : -1
  if (asked !== -1) rest = rest.slice(asked + AFTER_CONTEXT.length).trimStart()
  return rest === '' || rest.startsWith('# AGENTS.md') ? undefined : rest
}

/** A copy where it is cut: a part of a text holds on to all of it, and a pattern that was found to what it was found in. */
function headOf(text: string): string {
  return text.length > LONGEST ? (JSON.parse(JSON.stringify(text.slice(0, LONGEST))) as string) : text
}

/** Only where the text begins with markup of this kind: quoted in a sentence, it is words. */
function inside(text: string, name: string): string | undefined {
  if (!text.startsWith('<command-')) return undefined
  const from = text.indexOf(`<${name}>`)
  const end = from === -1 ? -1 : text.indexOf(`</${name}>`, from)
  return end === -1 ? undefined : text.slice(from + name.length + 2, end).trim() || undefined
}
