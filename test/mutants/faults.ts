import { stripTypeScriptTypes } from 'node:module'
import { type AnyNode, type Expression, type IfStatement, parse, type Statement } from 'acorn'
import { conditionsOf } from './sql-conditions.ts'

export const kinds = ['condition', 'check', 'limit', 'where'] as const
export type Kind = (typeof kinds)[number]

/** A change of some characters of a source. */
export interface Fault {
  kind: Kind
  start: number
  end: number
  text: string
}

/** Every small fault that can be put into a source: each leaves a program that can be parsed. */
export function faultsOf(source: string): Fault[] {
  // Types are replaced by spaces, so positions are those of the source.
  const program = parse(stripTypeScriptTypes(source), { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true })
  const found: Fault[] = []
  const moments = momentsOf(source)
  visit(program, (node) => {
    found.push(
      ...negations(node, source),
      ...missingChecks(node),
      ...wrongLimits(node, source, moments),
      ...missingConditions(node, source),
    )
  })
  return found
}

function visit(node: AnyNode, look: (node: AnyNode) => void) {
  look(node)
  for (const value of Object.values(node).flat()) if (typeof value?.type === 'string') visit(value, look)
}

/** A condition that is the opposite. */
function negations(node: AnyNode, source: string): Fault[] {
  if (node.type !== 'IfStatement' && node.type !== 'ConditionalExpression') return []
  const { start, end } = node.test
  const negated = node.test.type === 'UnaryExpression' && node.test.operator === '!'
  const text = source.slice(start, end)
  return [{ kind: 'condition', start, end, text: negated ? text.slice(1) : `!(${text})` }]
}

/** Calls by their names, and parts of the declaration of an operation or page, that refuse a caller or a value. */
const checking = /^(check|refuse|require|verify|ensure|assert)[A-Z]/
const declared = new Set(['access', 'writable', 'scopes'])

/** A check that is not made. */
function missingChecks(node: AnyNode): Fault[] {
  const { start, end } = node
  if (node.type === 'ExpressionStatement' && checking.test(calledName(node.expression)))
    return [{ kind: 'check', start, end, text: '{}' }]
  if (node.type === 'IfStatement' && isGuard(node)) return [{ kind: 'check', start, end, text: '{}' }]
  const isDeclared = node.type === 'Property' && node.key.type === 'Identifier' && declared.has(node.key.name)
  if (isDeclared && (node.value.type === 'Literal' || node.value.type === 'ArrayExpression'))
    return [{ kind: 'check', start, end, text: '...{}' }]
  return []
}

function calledName(expression: Expression): string {
  if (expression.type === 'AwaitExpression') return calledName(expression.argument)
  if (expression.type !== 'CallExpression') return ''
  const { callee } = expression
  const name = callee.type === 'MemberExpression' ? callee.property : callee
  return name.type === 'Identifier' ? name.name : ''
}

/** An `if` that does nothing but refuse. */
const isGuard = ({ consequent, alternate }: IfStatement) => !alternate && refuses(consequent)

/** A plain `Error` says that something cannot happen, so no test makes it happen. */
function refuses(statement: Statement): boolean {
  if (statement.type === 'BlockStatement') return statement.body.length === 1 && statement.body.every(refuses)
  if (statement.type !== 'ThrowStatement') return false
  const { argument } = statement
  return !(argument.type === 'NewExpression' && argument.callee.type === 'Identifier' && argument.callee.name === 'Error')
}

const neighbours: Record<string, string> = { '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const limiting = /max|min|limit|longest|most|least|size|length|count|items|pages?$/i

/** Expressions for moments of the clock that no test moves, and so no test meets one exactly. */
const momentsOf = (source: string) =>
  new RegExp(
    ['performance\\.now\\(\\)', ...[...source.matchAll(/(\w+) = performance\.now\(\)/g)].map(([, name]) => `\\b${name}\\b`)].join(
      '|',
    ),
  )

/** A limit that is off by one. */
function wrongLimits(node: AnyNode, source: string, moments: RegExp): Fault[] {
  if (node.type === 'BinaryExpression' && neighbours[node.operator]) {
    if (moments.test(source.slice(node.start, node.end))) return []
    const start = node.left.end + source.slice(node.left.end, node.right.start).indexOf(node.operator)
    return [{ kind: 'limit', start, end: start + node.operator.length, text: neighbours[node.operator] ?? '' }]
  }
  const [name, value] = namedValue(node)
  if (value?.type !== 'Literal' || typeof value.value !== 'number') return []
  // Counters begin at 0.
  if (value.value === 0 || !limiting.test(name)) return []
  return [{ kind: 'limit', start: value.start, end: value.end, text: `${value.value + 1}` }]
}

/** `name = value` or `name: value`. */
function namedValue(node: AnyNode): [name: string, value: AnyNode | null | undefined] {
  const [key, value] =
    node.type === 'VariableDeclarator' ? [node.id, node.init] : node.type === 'Property' ? [node.key, node.value] : []
  return [key?.type === 'Identifier' ? key.name : '', value]
}

/** A condition of a statement of SQL that always holds. */
function missingConditions(node: AnyNode, source: string): Fault[] {
  if (node.type !== 'TaggedTemplateExpression' || node.tag.type !== 'Identifier' || node.tag.name !== 'sql') return []
  const { start, end, expressions } = node.quasi
  // Values of the program are a name for SQL.
  let text = source.slice(start + 1, end - 1)
  for (const value of expressions) {
    const from = text.lastIndexOf('${', value.start - start - 1)
    const to = text.indexOf('}', value.end - start - 1) + 1
    text = text.slice(0, from) + '_'.repeat(to - from) + text.slice(to)
  }
  return conditionsOf(text).map(([from, to]) => ({
    kind: 'where',
    start: start + 1 + from,
    end: start + 1 + to,
    text: 'true',
  }))
}
