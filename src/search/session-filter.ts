/**
 * A query asked of whole sessions: fields become SQL over the state's columns, free words are looked for in the title and in how it
 * began. A session has a field when something in it has: `tool:Bash has:error` are sessions that called Bash and in which something
 * failed. What is unknown matches no test.
 */
import { HansardError } from '../errors.ts'
import type { Session } from '../transcript/session.ts'
import type { SqlValue } from '../transcript/source.ts'
import { matchesName } from './match-fields.ts'
import { createMatcher, PATTERN_MS, type Matcher } from './match.ts'
import { withinTime } from './match-regex.ts'
import type { FieldTest, NameTest } from './query-fields.ts'
import type { Node, Query } from './query.ts'
import { toTime, type SessionFilter, type Sql } from './session-where.ts'

/** Statements of SQLite may be only so large. */
const MOST_FIELDS = 200

export function toSessionFilter(query: Query): SessionFilter {
  const { fields, condition } = query
  const tests = [
    ...fields.map((one) => (one.type === 'not' ? one.node.test : one.test)),
    ...testsIn(condition),
  ]
  for (const { field } of tests) {
    if (field !== 'role') continue
    throw new HansardError('invalid-argument', 'role: is asked of entries, and a session has every role', {
      hint: 'leave it out, or look for entries with hansard search',
    })
  }
  if (tests.length > MOST_FIELDS) {
    throw new HansardError('invalid-argument', `the query has more than ${MOST_FIELDS} fields`, {
      hint: 'several values of one field are written as tool:Read,Edit',
    })
  }
  const wheres: string[] = []
  const values: SqlValue[] = []
  const nodes: Node[] = []
  for (const one of fields) {
    const test = one.type === 'not' ? one.node.test : one.test
    if (test.field === 'file') nodes.push(one)
    const sql = test.field === 'file' && one.type !== 'not' ? toFileHint(test) : toSql(test)
    if (sql === undefined) continue
    wheres.push(one.type === 'not' ? `NOT ${sql.where}` : sql.where)
    values.push(...sql.values)
  }
  if (condition !== undefined) nodes.push(condition)
  const where = wheres.length === 0 ? 'true' : wheres.join(' AND ')
  const isUnsure = tests.some(({ field }) => field === 'file' || field === 'tool' || field === 'source')
  if (nodes.length === 0) return { where, values, isUnsure }
  const rest = toRest(query, nodes)
  return {
    where,
    values,
    isUnsure,
    numbers(database) {
      const rows = database.prepare(`SELECT ${rest.columns}, n FROM listing WHERE ${where}`)
      const numbers: number[] = []
      return withinTime(PATTERN_MS * 5, () => {
        for (const row of rows.eachList(...rest.values, ...values))
          if (rest.test(row)) numbers.push(Number(row.at(-1)))
        return numbers
      })
    },
  }
}

function testsIn(node: Node | undefined): readonly FieldTest[] {
  if (node === undefined) return []
  if (node.type === 'all' || node.type === 'any') return node.nodes.flatMap(testsIn)
  return node.type === 'not' ? testsIn(node.node) : node.type === 'field' ? [node.test] : []
}

const LISTS: Readonly<Record<string, string>> = {
  agent: 'agents',
  model: 'models',
  source: 'sources',
  tool: 'tools',
  has: 'parts',
}
const COLUMNS: Readonly<Record<string, string>> = {
  project: 'project',
  branch: 'branch',
  run: 'run',
  flow: 'flow',
  step: 'step',
  status: 'status',
}
const PARTLY: ReadonlySet<string> = new Set(['model', 'project'])

/** Never NULL. Undefined for what only names of files can tell. */
function toSql(test: FieldTest): Sql | undefined {
  if ('operator' in test)
    return {
      where: `ifnull(${test.field === 'cost' ? 'usd' : 'tokens'} ${test.operator} ?, 0)`,
      values: [test.value],
    }
  if ('instant' in test) return toTime(test.field, test.instant)
  if (test.field === 'file') return undefined
  const list = LISTS[test.field]
  const column = list === undefined ? (COLUMNS[test.field] ?? '') : 'value'
  const each = test.values.map((value) => toComparison(test.field, column, value))
  const any = `(${each.map(({ where }) => where).join(' OR ')})`
  const values = each.flatMap((one) => one.values)
  return list === undefined
    ? { where: `ifnull(${any}, 0)`, values }
    : { where: `EXISTS (SELECT 1 FROM json_each(${list}) WHERE ${any})`, values }
}

/** As `matchesName` compares. */
function toComparison(field: string, column: string, value: string): Sql {
  const isPart = PARTLY.has(field)
  if (value.includes('*')) {
    const glob = value.replaceAll(/[[?]/g, (sign) => `[${sign}]`)
    return { where: `${column} GLOB ?`, values: [isPart ? `*${glob}*` : glob] }
  }
  if (field === 'source' && value === 'subagent') return { where: `${column} GLOB 'subagent:*'`, values: [] }
  return isPart
    ? { where: `instr(${column}, ?) > 0`, values: [value] }
    : { where: `${column} = ?`, values: [value] }
}

/** What is in the text of all its files may be in the name of one, told without taking it apart; undefined where it cannot be. */
function toFileHint({ values }: NameTest): Sql | undefined {
  const pieces = values.map((value) => value.split('*').filter((piece) => piece !== ''))
  if (!pieces.flat().every((piece) => /^[ !#-[\]-~]+$/.test(piece))) return undefined
  const each = pieces.map((one) => ['true', ...one.map(() => 'instr(lower(files), ?) > 0')].join(' AND '))
  return {
    where: `EXISTS (SELECT 1 FROM listing_work WHERE listing_work.n = listing.n AND (${each.join(' OR ')}))`,
    values: pieces.flat(),
  }
}

/** The session's own row for the words; what its fields are is known when it comes to it. */
const BARE: Session = { id: '', status: 'completed' }

type Rest = {
  readonly columns: string
  readonly values: readonly SqlValue[]
  test(row: readonly SqlValue[]): boolean
}

/** What SQL cannot tell, of a row with these columns selected. */
function toRest(query: Query, nodes: readonly Node[]): Rest {
  const columns = ['title', 'prompt', '(SELECT files FROM listing_work WHERE listing_work.n = listing.n)']
  const values: SqlValue[] = []
  const compile = (node: Node): ((row: readonly SqlValue[]) => boolean) => {
    switch (node.type) {
      case 'all': {
        const tests = node.nodes.map(compile)
        return (row) => tests.every((test) => test(row))
      }
      case 'any': {
        const tests = node.nodes.map(compile)
        return (row) => tests.some((test) => test(row))
      }
      case 'not': {
        const test = compile(node.node)
        return (row) => !test(row)
      }
      case 'field': {
        const sql = toSql(node.test)
        if (sql === undefined) return (row) => hasFile(node.test as NameTest, row[2])
        const at = columns.push(sql.where) - 1
        values.push(...sql.values)
        return (row) => Number(row[at]) === 1
      }
      case 'words':
      case 'substring':
      case 'regex': {
        const matcher = createMatcher({ ...query, fields: [], condition: node })
        return ([title, prompt]) => saysIt(matcher, title, prompt)
      }
    }
  }
  const tests = nodes.map(compile)
  return { columns: columns.join(', '), values, test: (row) => tests.every((test) => test(row)) }
}

function hasFile(test: NameTest, files: SqlValue | undefined): boolean {
  return typeof files === 'string' && matchesName(test, Object.keys(JSON.parse(files) as object))
}

function saysIt(matcher: Matcher, ...texts: readonly (SqlValue | undefined)[]): boolean {
  const blocks = texts.flatMap((text) => (typeof text === 'string' ? [{ type: 'text' as const, text }] : []))
  return matcher.entry({ id: '', source: '', sequence: 1, kind: 'message', blocks }, BARE) !== undefined
}
