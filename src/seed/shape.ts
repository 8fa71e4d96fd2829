import { describeMismatch } from './mismatch.ts'
import { suggest } from './nearest.ts'
import type { Fault, Path } from './path.ts'
import { definitions, resolve, type Schema, type Type } from './schema.ts'
import { describeUnknownKey } from './unknown-key.ts'

/** Faults beyond these are not looked for. */
export const mostFaults = 50
/** Values in a whole seed. */
const mostValues = 500_000

/** Begins every text that stands for a missing one. Faults whose messages have it follow from what is reported already. */
export const placeholder = '\u{F0000}'

/** Keys of what other parts of the seed refer to by name. */
const naming = new Set<unknown>([
  ...['users', 'organizations', 'owners', 'members', 'repositories', 'labels', 'milestones'],
  ...['files', 'commits', 'branch', 'default_branch', 'fork_of'],
])

export interface Shape {
  faults: Fault[]
  /** The seed with values of the right types only, to look for other faults in it. Undefined when there are too many already. */
  repaired: unknown
  /** Where the repair put a value of its own. */
  filled: Path[]
  /** Whether the repair kept all names. Otherwise references seem to dangle that do not. */
  complete: boolean
}

/** What differs from the schema: unknown and missing keys, and wrong types. A key that is `undefined` is absent. */
export function checkShape(seed: unknown): Shape {
  const faults: Fault[] = []
  const filled: Path[] = []
  /** Places whose keys a fault lists already. */
  const listed = new Set<object>()
  let [values, complete] = [0, true]
  const check = (value: unknown, given: Schema, path: Path): unknown => {
    const schema = resolve(given)
    if (faults.length > mostFaults || values > mostValues) return value
    values++
    const report = (message: string, at: Path = path) => faults.push({ path: at, message })
    const types = [schema.type ?? []].flat()
    const type = typeOf(value)
    if (!types.includes(type as Type)) {
      report(describeMismatch(schema, type, value))
      return types.includes('string') && isPlain(value) ? String(value) : fill(schema, path)
    }
    if (typeof value === 'string') checkText(value, schema, report)
    if (typeof value === 'number' && value < (schema.minimum ?? value)) report(`must be at least ${schema.minimum}`)
    if (typeof value === 'number' && value > (schema.maximum ?? value)) report(`must be at most ${schema.maximum}`)
    if (Array.isArray(value)) {
      if (value.length < (schema.minItems ?? 0)) report('must not be an empty list')
      if (value.length > (schema.maxItems ?? value.length)) {
        report(`has more than ${schema.maxItems} items`)
        return fill(schema, path)
      }
      return Array.from(value, (item, index) => check(item, schema.items ?? {}, [...path, index]))
    }
    return type === 'object' ? checkObject(value as Record<string, unknown>, schema, path) : value
  }
  const checkObject = (value: Record<string, unknown>, schema: Schema, path: Path) => {
    const { properties = {}, required = [], additionalProperties: others } = schema
    const repaired: [string, unknown][] = []
    for (const [key, item] of Object.entries(value)) {
      if (item === undefined) continue
      const known = Object.hasOwn(properties, key) ? properties[key] : others || undefined
      if (known) repaired.push([key, check(item, known, [...path, key])])
      else {
        faults.push({ path: [...path, key], message: describeUnknownKey(key, Object.keys(properties), listed.has(properties)) })
        listed.add(properties)
      }
    }
    for (const key of required) {
      if (value[key] !== undefined) continue
      faults.push({ path, message: `the key "${key}" is missing` })
      repaired.push([key, fill(properties[key] ?? {}, [...path, key])])
    }
    return Object.fromEntries(repaired)
  }
  /** A value of the right type. */
  const fill = (given: Schema, path: Path): unknown => {
    const { type, required = [], properties = {}, minimum = 0 } = resolve(given)
    const list = path.findLast((_, index) => typeof path[index + 1] === 'number')
    filled.push(path)
    const last = path.at(-1)
    const names = typeof last === 'number' || last === 'login' || last === 'name' || last === 'title'
    if ((names && naming.has(list)) || naming.has(last)) complete = false
    const [wanted] = [type ?? []].flat()
    if (wanted === 'array') return []
    if (wanted === 'object') return Object.fromEntries(required.map((key) => [key, fill(properties[key] ?? {}, [...path, key])]))
    if (wanted === 'boolean') return false
    return wanted === 'integer' ? minimum : `${placeholder}${filled.length}`
  }
  const repaired = check(seed, definitions.Seed ?? {}, [])
  if (values > mostValues) faults.push({ path: [], message: `has more than ${mostValues} values` })
  const usable = faults.length <= mostFaults && values <= mostValues
  return { faults, repaired: usable ? repaired : undefined, filled, complete }
}

const isPlain = (value: unknown) => typeof value === 'number' || typeof value === 'boolean'

function checkText(value: string, schema: Schema, report: (message: string) => void) {
  const { minLength = 0, maxLength = value.length } = schema
  if (value.length < minLength)
    return report(
      minLength === 1 ? 'must not be empty' : `must have ${minLength} to ${maxLength} characters, not ${value.length}`,
    )
  if (value.length > maxLength) return report(`has ${value.length} characters, more than ${maxLength}`)
  if (value.includes('\0') || !value.isWellFormed()) return report('has a character that PostgreSQL cannot store')
  if (schema.enum && !schema.enum.includes(value))
    return report(`must be one of ${schema.enum.join(', ')}${suggest(value, schema.enum)}`)
  if (schema.pattern && !patternOf(schema.pattern).test(value)) report(schema.errorMessage ?? `must match ${schema.pattern}`)
}

const patterns = new Map<string, RegExp>()
function patternOf(source: string) {
  const known = patterns.get(source) ?? new RegExp(source)
  patterns.set(source, known)
  return known
}

function typeOf(value: unknown): Type | 'number' | 'undefined' | 'function' {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  return typeof value as 'string' | 'boolean' | 'object' | 'undefined' | 'function'
}
