import type { Belfry } from '#belfry.ts'
import type { TSchema } from '#platform/schema.ts'
import type { Variant } from '#variants.ts'
import { basesOf } from './call.ts'
import { type Endpoint, type Group, isNumbered, plainPath } from './endpoint.ts'
import { statusOf } from './errors.ts'
import { isPlain, type Medium, mediaType } from './media.ts'
import { usualPages } from './paging.ts'

type Json = Record<string, unknown>

const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })

/** The OpenAPI 3.1 document of a variant, generated from the declarations of its endpoints. */
export function describeApi(belfry: Belfry, groups: Group[], variant: Variant) {
  const schemas: Record<string, Json> = { Error: errorSchema, Moved: moved }
  const paths: Record<string, Record<string, Json>> = {}
  for (const { title, endpoints } of groups) {
    for (const endpoint of endpoints) {
      if (endpoint.served && !endpoint.served(variant)) continue
      const method = endpoint.method.toLowerCase()
      const path = plainPath(endpoint.path)
      paths[path] = { ...paths[path], [method]: describe(endpoint, title, schemas, variant) }
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `Belfry, ${variant.name} variant`,
      version: belfry.version,
      description: 'The activity side of a code host. This document is generated from the code that serves it.',
    },
    servers: [{ url: basesOf(belfry, variant).api }],
    tags: groups.map(({ title }) => ({ name: title })),
    security: [{ token: [] }, { basic: [] }],
    paths,
    components: {
      schemas,
      responses: commonResponses,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A personal or OAuth token; `token` works as well as `Bearer`.' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: 'A login with its password, or with a token instead of the password.',
        },
        password: {
          type: 'http',
          scheme: 'basic',
          description: 'A login with its password, and a one-time code if the account has a second factor.',
        },
        client: { type: 'http', scheme: 'basic', description: "An OAuth application's id with its secret." },
        app: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A JSON web token that a key of the app signed (RS256).',
        },
      },
    },
  }
}

export type ApiDescription = ReturnType<typeof describeApi>

function describe(endpoint: Endpoint, tag: string, schemas: Record<string, Json>, variant: Variant): Json {
  const { operation, summary, viewer, scopes = [], body, answers } = endpoint
  const responses = Object.entries(answers).map(([status, schema]) => [status, describeAnswer(status, schema, schemas, endpoint)])
  const refusals = statusesBesides(endpoint, variant)
    .filter((status) => !(status in answers))
    .map((status) => [status, { $ref: `#/components/responses/${status}` }])
  return {
    operationId: operation,
    summary,
    tags: [tag],
    ...(viewer === 'optional' && { security: [{}, { token: [] }, { basic: [] }] }),
    ...((viewer === 'password' || viewer === 'client' || viewer === 'app') && { security: [{ [viewer]: [] }] }),
    ...(scopes.length && { 'x-scopes': scopes }),
    parameters: [...pathParameters(plainPath(endpoint.path)), ...queryParameters(endpoint, variant)],
    ...(body && { requestBody: { required: Boolean(body.required?.length), ...json(describeBody(endpoint, schemas)) } }),
    responses: Object.fromEntries([...responses, ...refusals]) as Json,
  }
}

function describeBody({ body, array_field }: Endpoint, schemas: Record<string, Json>) {
  const whole = hoist(body as TSchema, schemas)
  return array_field ? { anyOf: [whole, hoist(body?.properties[array_field] as TSchema, schemas)] } : whole
}

function describeAnswer(status: string, schema: TSchema, schemas: Record<string, Json>, endpoint: Endpoint): Json {
  const description = phrases[Number(status)]
  if ('type' in schema && schema.type === 'null') return { description }
  const hoisted = hoist(schema, schemas)
  const stream = { 'text/event-stream': { schema: endpoint.streamed ? hoisted : { type: 'string' } } }
  if (endpoint.streamed) return { description, content: stream }
  if (endpoint.media?.some(isPlain)) return { description, content: mediaOf(endpoint, hoisted) }
  return { description, content: { ...json(hoisted).content, ...(endpoint.followed && stream), ...mediaOf(endpoint, hoisted) } }
}

function mediaOf({ media = [] }: Endpoint, hoisted: unknown) {
  const schemaOf = (medium: Medium) => (medium === 'object' ? hoisted : { type: 'string' })
  return Object.fromEntries(media.map((medium) => [mediaType('github', medium), { schema: schemaOf(medium) }]))
}

/** What a status means, in a few words. */
export const phrases: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  204: 'No content',
  205: 'Reset content',
  301: 'The repository was renamed',
  302: 'The address of the file',
  304: 'Not modified',
  307: 'The repository was renamed: send the request to the new address',
  400: 'The request cannot be parsed, or requests an unknown version',
  401: 'Requires authentication, or bad credentials',
  403: 'Forbidden, or too many requests',
  404: 'Not found, or hidden from the caller',
  405: 'Not allowed in the present state',
  409: 'Conflict with the present state',
  410: 'Closed',
  413: 'The body is too large',
  415: 'The client asks for a stream that does not exist',
  422: 'Validation failed',
  429: 'Too many open streams; see Retry-After',
  503: 'Temporarily unavailable; see Retry-After',
}

/** The statuses that follow from an endpoint's declaration, besides those it declares. */
export function statusesBesides(
  { method, path, query, list, refuses = [], followed, streamed, ...endpoint }: Endpoint,
  variant: Variant,
) {
  const reads = method === 'GET'
  const named = path.includes('{') || endpoint.viewer === 'site_admin'
  return [
    // Before any endpoint, a request can fail by its credentials, by limits, by `Accept` or by the database.
    ...[statusOf.bad_credentials, statusOf.forbidden, statusOf.unacceptable, statusOf.unavailable],
    ...(reads && !streamed ? [304] : []),
    ...(/\{owner\}\/\{repo\}/.test(path) ? [reads ? 301 : 307] : []),
    ...(!reads || variant.api_versions.length ? [statusOf.malformed] : []),
    ...(named ? [statusOf.missing] : []),
    ...(reads ? [] : [statusOf.too_large]),
    ...(!reads || query || list ? [statusOf.invalid] : []),
    ...(followed || streamed ? [statusOf.too_many_streams] : []),
    // Issues and milestones of a repository with issues turned off answer 410.
    ...(endpoint.checkOpen || /^\/repos\/\{owner\}\/\{repo\}\/(issues|milestones)\b/.test(path) ? [statusOf.gone] : []),
    ...refuses.map((reason) => statusOf[reason]),
  ]
}

const moved = {
  type: 'object',
  required: ['message', 'url', 'documentation_url'],
  properties: { message: { type: 'string' }, url: { type: 'string' }, documentation_url: { type: 'string' } },
}

/** The responses that all operations share. */
const commonResponses = Object.fromEntries(
  [301, 304, 307, ...new Set(Object.values(statusOf))].map((status): [string, Json] => {
    const schema = status < 400 ? { $ref: '#/components/schemas/Moved' } : { $ref: '#/components/schemas/Error' }
    return [String(status), { description: phrases[status], ...(status !== 304 && json(schema)) }]
  }),
)

function pathParameters(path: string) {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: isNumbered(name ?? '') ? 'integer' : 'string' },
  }))
}

export function queryParameters({ query = {}, list }: Endpoint, variant: Variant) {
  const declared = Object.entries(query).map(([name, schema]) => ({ name, in: 'query', schema: describeWords(schema) }))
  if (!list) return declared
  const { size, largest, fixed } = typeof list === 'function' ? list(variant) : usualPages
  const per_page = { name: 'per_page', in: 'query', schema: { type: 'integer', default: size, maximum: largest } }
  const page = { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } }
  return [...declared, ...(fixed ? [] : [per_page]), ...(list === 'by cursor' ? [] : [page])]
}

/** Schemas with a title become components that the rest refers to. */
function hoist(schema: TSchema, schemas: Record<string, Json>): unknown {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    const inner = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each)]))
    // This format is for our serializer only.
    if (inner.format === 'unsafe') delete inner.format
    const { title, ...rest } = inner
    if (typeof title !== 'string' || rest.type !== 'object') return inner
    schemas[title] = rest
    return { $ref: `#/components/schemas/${title}` }
  }
  return walk(schema)
}

/** An empty word means "not given" and is not documented. */
function describeWords(schema: TSchema) {
  const { enum: words, default: fallback, ...rest } = schema as { enum?: string[]; default: string }
  return { ...rest, ...(words && { enum: words.filter(Boolean) }), ...(fallback && { default: fallback }) }
}

const errorSchema = {
  type: 'object',
  required: ['message', 'documentation_url', 'status'],
  properties: {
    message: { type: 'string' },
    documentation_url: { type: 'string' },
    status: { type: 'string' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['resource', 'code'],
        properties: {
          resource: { type: 'string' },
          code: { type: 'string', enum: ['missing', 'missing_field', 'invalid', 'already_exists', 'unprocessable', 'custom'] },
          field: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
  },
}
