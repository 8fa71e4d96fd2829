import { Ajv, type ErrorObject } from 'ajv'

/** Both cache compiled validators by schema. The first stops at the first fault; the second describes all faults of a small body. */
const first = new Ajv({ strict: false })
const all = new Ajv({ strict: false, allErrors: true })

/** In objects, arrays and values. A larger body gets its first fault only, because half a million faults took 18 s and 32 MB. */
const mostValues = 1000
const mostFaults = 20

type Faults = Partial<ErrorObject>[]

/** Checks a body against a schema. Compiles it on first use. */
export function openValidator(schema: object) {
  const check = (body: unknown): boolean => {
    check.errors = findFaults(schema, body)
    return check.errors === null
  }
  check.errors = null as Faults | null
  return check
}

function findFaults(schema: object, body: unknown): Faults | null {
  const validate = first.compile(schema)
  if (validate(body)) return null
  const found = validate.errors ?? []
  if (found.some(({ keyword }) => keyword === 'maxItems') || isLarge(body)) return found.slice(0, mostFaults)
  const describe = all.compile(schema)
  describe(body)
  return (describe.errors ?? found).slice(0, mostFaults)
}

function isLarge(body: unknown) {
  const left = [body]
  for (let seen = 0; left.length; seen++) {
    if (seen + left.length > mostValues) return true
    const value = left.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner = Object.values(value)
    if (inner.length > mostValues) return true
    left.push(...inner)
  }
  return false
}
