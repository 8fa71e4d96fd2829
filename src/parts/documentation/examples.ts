import type { TSchema } from '#platform/schema.ts'

/** The parts of a schema that the reference shows. */
export interface Schema {
  title?: string
  description?: string
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  default?: unknown
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
  maxLength?: number
  minimum?: number
  maximum?: number
}

export const schemaOf = (schema: TSchema | undefined) => schema as Schema | undefined

/** Values of fields by their names. */
const texts: Record<string, string> = {
  login: 'ada',
  username: 'ada',
  owner: 'ada',
  name: 'engine',
  full_name: 'ada/engine',
  email: 'ada@example.com',
  title: 'The build fails',
  body: 'It fails since yesterday.',
  description: 'Computes tables',
  message: 'Fix the build',
  commit_message: 'Fix the build',
  color: 'd73a4a',
  ref: 'main',
  branch: 'main',
  default_branch: 'main',
  head: 'topic',
  base: 'main',
  sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  head_sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e',
  content: 'SGVsbG8=',
  text: 'Hello, **world**',
  path: 'README.md',
  tag_name: 'v1.0',
  node_id: 'MDQ6VXNlcjE=',
  permission: 'push',
  note: 'Reads my repositories',
  key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0kq3n0vUZ5mNnVb1k0Yh0XqkQW8m1m2s3t4u5v6w7x',
  homepage: 'https://example.com',
  location: 'London',
  context: 'build',
  environment: 'production',
  team_slug: 'core',
  slug: 'core',
}

/** What is deeper than this is left out of an example. */
const deepest = 3
/** Fields of the outermost object, and of each one in it. */
const mostFields = [60, 8]

/** A value that fits a schema. Long and deep objects are shortened. */
export function exampleOf(schema: Schema, name = '', depth = 0): unknown {
  if (schema.const !== undefined) return schema.const
  const words = schema.enum?.filter((word) => word !== '' && word !== null)
  if (words?.length) return words[0]
  if (schema.default !== undefined && schema.default !== '') return schema.default
  const ways = schema.anyOf ?? schema.oneOf
  if (ways) return exampleOf(ways.find(({ type }) => type !== 'null') ?? {}, name, depth)
  const type = [schema.type].flat().find((one) => one !== 'null')
  if (type === 'object' || schema.properties) return depth < deepest ? objectOf(schema, depth) : {}
  if (type === 'array') return schema.items && depth < deepest ? [exampleOf(schema.items, singular(name), depth + 1)] : []
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1)
  if (type === 'boolean') return false
  return type === 'string' ? textOf(schema, name) : null
}

function objectOf({ properties = {} }: Schema, depth: number) {
  const fields = Object.entries(properties).slice(0, mostFields[Math.min(depth, 1)])
  return Object.fromEntries(fields.map(([name, schema]) => [name, exampleOf(schema, name, depth + 1)]))
}

function textOf({ format, maxLength }: Schema, name: string) {
  if (format === 'date-time' || name.endsWith('_at')) return '2026-03-14T09:26:53Z'
  const known = texts[name]
  if (known !== undefined) return known
  if (/(^|_)(url|uri)s?$/.test(name)) return 'https://example.com/'
  return 'text'.slice(0, maxLength)
}

const singular = (name: string) => ({ labels: 'label', assignees: 'login', events: 'event' })[name] ?? name

/** The fields that an example of an update changes, if none is required. */
const likely = ['title', 'body', 'description', 'state', 'content', 'events', 'name']

/** A small body: the required fields, or else one or two others. */
export function exampleBody(schema: Schema): Record<string, unknown> {
  const { properties = {}, required = [] } = schema
  const names = Object.keys(properties)
  const usual = likely.filter((name) => names.includes(name)).slice(0, 1)
  const shown = required.length ? required : usual.length ? usual : names.slice(0, 2)
  return Object.fromEntries(shown.map((name) => [name, exampleOf(properties[name] ?? {}, name, 1)]))
}

/** The name of a type as the tables show it. */
export function typeName({ title, type, items, anyOf, oneOf, properties }: Schema): string {
  if (items) return `array of ${plural(typeName(items))}`
  if (title) return title
  const ways = anyOf ?? oneOf
  if (ways) return [...new Set(ways.map(typeName))].join(' or ')
  return [type ?? (properties ? 'object' : 'any value')].flat().join(' or ')
}

const plural = (name: string) => (/^(string|integer|object|number|boolean|array)$/.test(name) ? `${name}s` : name)

export interface FieldRow {
  name: string
  schema: Schema
  required: boolean
}

/** The fields of a body, and those of the objects in it. */
export function fieldsOf({ properties = {}, required = [] }: Schema, prefix = '', depth = 0): FieldRow[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const row = { name: `${prefix}${name}`, schema, required: required.includes(name) }
    const inner = schema.items?.properties ? { of: schema.items, mark: '[].' } : { of: schema, mark: '.' }
    return [row, ...(depth < 2 ? fieldsOf(inner.of, `${row.name}${inner.mark}`, depth + 1) : [])]
  })
}
