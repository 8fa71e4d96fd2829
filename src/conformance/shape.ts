/** What a value must be. It returns what is wrong, with the path of the wrong part. */
export type Shape = (value: unknown) => Wrong | undefined

interface Wrong {
  path: string
  expected: string
  value: unknown
}

const rule =
  (expected: string, holds: (value: unknown) => boolean): Shape =>
  (value) =>
    holds(value) ? undefined : { path: '', expected, value }

export const text = rule('a string', (value) => typeof value === 'string')
export const words = rule('a string that is not empty', (value) => typeof value === 'string' && value !== '')
export const integer = rule('an integer', Number.isInteger)
export const number = rule('a number', (value) => typeof value === 'number')
export const flag = rule('a boolean', (value) => typeof value === 'boolean')
export const anyObject = rule('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value))
export const missing = rule('nothing', (value) => value === undefined)
/** ISO 8601 in UTC. */
export const time = rule(
  'an ISO 8601 timestamp in UTC',
  (value) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/.test(value),
)
/** An absolute address, or a template of one. */
export const address = rule(
  'an absolute address',
  (value) => typeof value === 'string' && /^(https?|git|ssh):\/\/|^git@/.test(value),
)

export const exactly = (...values: unknown[]) =>
  rule(values.map((value) => JSON.stringify(value)).join(' or '), (value) => values.includes(value))

export const matching = (pattern: RegExp) =>
  rule(`a string that matches ${pattern}`, (value) => typeof value === 'string' && pattern.test(value))

export const either =
  (...shapes: Shape[]): Shape =>
  (value) => {
    const wrong = shapes.map((shape) => shape(value))
    if (wrong.some((problem) => problem === undefined)) return undefined
    return { path: '', expected: wrong.map((problem) => problem?.expected).join(' or '), value }
  }

export const nullable = (shape: Shape) =>
  either(
    shape,
    rule('null', (value) => value === null),
  )

export const listOf =
  (shape: Shape): Shape =>
  (value) => {
    if (!Array.isArray(value)) return { path: '', expected: 'an array', value }
    for (const [index, item] of value.entries()) {
      const wrong = shape(item)
      if (wrong) return { ...wrong, path: `[${index}]${wrong.path}` }
    }
    return undefined
  }

/** Fields that must be there, or with `?` at the end of their name may be absent. Others are allowed. */
export const record =
  (fields: Record<string, Shape>): Shape =>
  (value) => {
    const wrong = anyObject(value)
    if (wrong) return wrong
    for (const [marked, shape] of Object.entries(fields)) {
      const name = marked.replace(/\?$/, '')
      const inner = (value as Record<string, unknown>)[name]
      if (inner === undefined && marked !== name) continue
      const problem = shape(inner)
      if (problem) return { ...problem, path: `.${name}${problem.path}` }
    }
    return undefined
  }

export const each = (names: string, shape: Shape): Record<string, Shape> =>
  Object.fromEntries(names.split(/[\s,]+/).map((name) => [name, shape]))

export function describeMismatch(shape: Shape, value: unknown) {
  const wrong = shape(value)
  if (!wrong) return undefined
  const path = wrong.path.replace(/^\./, '') || 'the body'
  const got = wrong.value === undefined ? 'no such field' : JSON.stringify(wrong.value).slice(0, 300)
  return { expected: `${path} to be ${wrong.expected}`, got }
}
