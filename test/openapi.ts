import assert from 'node:assert/strict'
import { Ajv, type ValidateFunction } from 'ajv'

export interface Schema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  required?: string[]
  properties?: Record<string, Schema>
  minLength?: number
  minimum?: number
}

interface Response {
  $ref?: string
  content?: Record<string, { schema: object }>
}

export interface Operation {
  method: string
  path: string
  operationId: string
  security?: object[]
  parameters: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, Response>
}

export interface Document {
  paths: Record<string, Record<string, Omit<Operation, 'method' | 'path'>>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response> }
}

export const operationsOf = ({ paths }: Document): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  )

/** Says what of an answer is not as the document has it; nothing when all is. */
export function openChecker(document: Document) {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  ajv.addSchema({ $id: 'document', components: document.components })
  const compiled = new Map<string, ValidateFunction>()
  const validatorOf = (schema: object) => {
    const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components')
    const known = compiled.get(text) ?? ajv.compile(JSON.parse(text))
    compiled.set(text, known)
    return known
  }

  return ({ responses }: Operation, status: number, type: string, text: string): string | undefined => {
    const given = responses[status]
    if (!given) return `${status} is not documented: ${text.slice(0, 200)}`
    const { content } = given.$ref ? (document.components.responses[given.$ref.split('/').at(-1) ?? ''] ?? {}) : given
    const schema = content?.['application/json']?.schema
    if (!content) return text === '' ? undefined : `${status} has a body: ${text.slice(0, 200)}`
    if (!schema) return undefined
    if (!type.startsWith('application/json')) return `${status} is ${type}`
    const validate = validatorOf(schema)
    if (validate(JSON.parse(text))) return undefined
    return `${status} does not fit its schema: ${ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`
  }
}

/** A value that a schema allows. */
export function valid(schema: Schema, document: Document): unknown {
  if (schema.$ref) return valid(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, document)
  if (schema.anyOf) return valid(schema.anyOf[0] ?? {}, document)
  if (schema.enum) return schema.enum[0]
  switch ([schema.type].flat()[0]) {
    case 'string':
      return 'x'.repeat(Math.max(1, schema.minLength ?? 1))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return schema.items ? [valid(schema.items, document)] : []
    case 'object':
      return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, valid(inner, document)]))
    default:
      return null
  }
}

/** A generator of the same numbers each time. */
export function seeded(seed: number) {
  let state = seed
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
  return <T>(values: readonly T[]): T => {
    assert.ok(values.length)
    return values[next(values.length)] as T
  }
}
