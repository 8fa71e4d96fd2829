import type { FastifySchemaValidationError } from 'fastify'
import { Refusal } from '#platform/errors.ts'
import { deepestJson, isTooDeep } from '#platform/json.ts'
import { type Static, type TSchema, Type } from '#platform/schema.ts'

/** A query parameter with a fixed set of words. Any other value means the first word. */
export const choice = <const Words extends readonly [string, ...string[]]>(...words: Words) =>
  Type.Unsafe<Words[number]>({ type: 'string', enum: words, default: words[0] })

export type QueryFields = Record<string, TSchema>
export type Query<Fields extends QueryFields> = { [Name in keyof Fields]: Static<Fields[Name]> }

/** A query parameter with any text. */
export const text = (description?: string) => Type.String({ default: '', ...(description && { description }) })

/** The parameter `since` of a list in the order of ids: the last id that the client has seen. */
export const readSince = (since: string) => (/^\d{1,15}$/.test(since) ? Number(since) : 0)

/** Reads the declared parameters. An invalid value means the default, as clients of this API expect. */
export function readQuery(fields: QueryFields, query: URLSearchParams) {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const { enum: words, default: fallback } = field as { enum?: string[]; default: string }
      const given = query.get(name)
      if (given?.includes('\0')) throw nullCharacter()
      return [name, given !== null && (words?.includes(given) ?? true) ? given : fallback]
    }),
  )
}

/**
 * Parses every body as JSON, whatever its content type, because command-line tools rarely set it. Clients send `{}` or `null` where they have
 * nothing to say: `null` is no body, and an endpoint that declares none ignores it.
 */
export function parseBody({ body: declared, array_field }: { body?: TSchema; array_field?: string }, text: string): unknown {
  if (!declared || text.trim() === '') return undefined
  if (isTooDeep(text)) throw new Refusal('malformed', `The body is nested too deeply: JSON may have ${deepestJson} levels.`)
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw new Refusal('malformed', 'Problems parsing JSON')
  }
  if (body === null) return undefined
  if (array_field && Array.isArray(body)) body = { [array_field]: body }
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new Refusal('malformed', 'Body should be a JSON object')
  // PostgreSQL text cannot contain a null character. The first test is cheap and passes nearly every body.
  if (text.includes('\\u0000') && JSON.stringify(Object.values(body)).includes('\\u0000') && holdsNull(body)) {
    throw nullCharacter()
  }
  return body
}

const nullCharacter = () => new Refusal('invalid', 'Invalid request.\n\nText may not hold the null character.')

function holdsNull(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => key.includes('\0') || holdsNull(inner))
}

/** Describes the faults of a body with the messages of the public API. */
export function describeFaults(faults: FastifySchemaValidationError[], body: unknown): Refusal {
  const lines = [
    ...sentence(faults, 'required', 'missingProperty', "wasn't supplied", "weren't supplied"),
    ...sentence(faults, 'additionalProperties', 'additionalProperty', 'is not a permitted key', 'are not permitted keys'),
    ...faults
      .filter(({ keyword }) => !['required', 'additionalProperties'].includes(keyword))
      .map((fault) => describeFault(fault, body)),
  ]
  return new Refusal('invalid', `Invalid request.\n\n${[...new Set(lines)].join('\n')}`)
}

function sentence(faults: FastifySchemaValidationError[], keyword: string, parameter: string, one: string, many: string) {
  const keys = faults.filter((fault) => fault.keyword === keyword).map((fault) => `"${String(fault.params[parameter])}"`)
  return keys.length ? [`${keys.join(', ')} ${keys.length === 1 ? one : many}.`] : []
}

function describeFault({ instancePath, keyword, params, message }: FastifySchemaValidationError, body: unknown) {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const found = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], body)
  const where = `For 'properties/${path.join('/').slice(0, longestShown)}', ${preview(found).slice(0, longestShown)}`
  if (keyword === 'type') return `${where} is not ${describeType(params.type)}.`
  if (keyword === 'enum') return `${where} is not a member of ${JSON.stringify(params.allowedValues)}.`
  return `${where} ${message ?? 'is not valid'}.`
}

const longestShown = 100

/** The beginning of the JSON of a value. A body may have 64 MB, and each of its faults shows a part of it. */
function preview(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, longestShown))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  const inner = keys ?? (value as unknown[])
  let text = keys ? '{' : '['
  for (let index = 0; index < inner.length && text.length < longestShown; index++) {
    const key = keys?.[index]
    const part = key === undefined ? preview(inner[index]) : `${preview(key)}:${preview((value as Record<string, unknown>)[key])}`
    text += `${index ? ',' : ''}${part}`
  }
  return `${text}${keys ? '}' : ']'}`
}

function describeType(type: unknown) {
  const words = (Array.isArray(type) ? type : [type]).map((name) =>
    /^[aeio]/.test(name) ? `an ${name}` : name === 'null' ? name : `a ${name}`,
  )
  return words.join(' or ')
}
