import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'

/** Where a body differs from the public documentation, and who asks for it. */
export interface Difference {
  /** One, or with a `*` at its end all that begin so. */
  operation: string
  variant: 'self-hosted' | 'versioned' | 'both'
  /** Where in the body; `*` is any item of a list. */
  path: string
  why: string
}

/** All differences. docs/differences.md lists the same. */
export const differences: Difference[] = [
  {
    operation: 'activity/get-feeds',
    variant: 'both',
    path: '/_links',
    why: 'The specification has a list with one object. Requests for `vnd.github` get the object itself.',
  },
]

/** Endpoints of ours that the public documentation does not have. */
export const additions: Omit<Difference, 'path'>[] = [
  {
    operation: 'activity/get-stargazer-count-for-repo',
    variant: 'self-hosted',
    why: '`GET …/stargazers/count` is documented for the versioned variant only.',
  },
  {
    operation: 'feeds/create-key',
    variant: 'both',
    why: '`POST /user/feed_keys` creates a feed key that can be revoked.',
  },
  { operation: 'feeds/get-key', variant: 'both', why: '`GET /user/feed_keys/{key_id}` reads a feed key.' },
  { operation: 'feeds/list-keys', variant: 'both', why: '`GET /user/feed_keys` lists feed keys.' },
  {
    operation: 'git/get-ref-by-old-name',
    variant: 'both',
    why: '`GET …/git/refs/{ref}` is the `url` of a ref, which older clients follow.',
  },
  {
    operation: 'git/list-refs',
    variant: 'both',
    why: '`GET …/git/refs` is the `git_refs_url` of a repository without a ref.',
  },
  { operation: 'repos/get-root-content', variant: 'both', why: '`GET …/contents` lists the root folder, whose path is empty.' },
]

export const isSaid = (said: Difference, { operation, path }: Fault) =>
  said.path === path &&
  (said.operation === operation || (said.operation.endsWith('*') && operation.startsWith(said.operation.slice(0, -1))))

type Json = Record<string, unknown>

export interface Fault {
  operation: string
  path: string
  message: string
}

const documents = { 'self-hosted': 'ghes-3.19', versioned: 'api.github.com' } as const
export type VariantName = keyof typeof documents

interface Document {
  paths: Record<string, Json>
  components: { schemas: Record<string, Json>; responses: Record<string, Json> }
}

/** A process reads a document once: it has eight megabytes. */
const read = new Map<VariantName, Contract>()

/** The public documentation of a variant: which body an operation answers with. */
export class Contract {
  readonly #ajv = new Ajv({ strict: false, allErrors: true, logger: false, validateSchema: false, formats })
  readonly #compiled = new Map<string, ValidateFunction>()
  readonly #schemas: Record<string, Json>
  readonly #added = new Set<string>()
  readonly #answers: Record<string, Record<string, Json>>

  static of(variant: VariantName) {
    const contract = read.get(variant) ?? new Contract(variant)
    read.set(variant, contract)
    return contract
  }

  private constructor(variant: VariantName) {
    const place = createRequire(import.meta.url).resolve(`@octokit/openapi/generated/${documents[variant]}.json`)
    const { paths, components }: Document = JSON.parse(readFileSync(place, 'utf8'))
    this.#schemas = components.schemas
    // A union that an empty payload satisfies with every kind at once: each payload is held against its own kind instead.
    Object.assign(components.schemas.event?.properties ?? {}, { payload: { type: 'object' } })
    this.#answers = Object.fromEntries(
      Object.values(paths)
        .flatMap((path) => Object.values(path) as { operationId?: string; responses: Json }[])
        .flatMap(({ operationId, responses }) =>
          operationId ? [[operationId, answersOf(responses, components.responses)]] : [],
        ),
    )
  }

  has(operation: string) {
    return operation in this.#answers
  }

  /** What is wrong with a body, by the documentation; star lists come in two media types. */
  check(operation: string, status: number, media: string, body: unknown): Fault[] {
    const described = this.#answers[operation]?.[status]
    const type = described && (media in described ? media : 'application/json')
    if (!type || !(type in described)) return [{ operation, path: '', message: `has no documented ${status}` }]
    const schema = described[type] as Json
    return this.#validate(`${operation} ${status} ${type}`, schema, body).map((fault) => ({ ...fault, operation }))
  }

  /** What is wrong with the payload of an event, by its kind. */
  checkPayload(operation: string, { type, payload }: { type: string; payload: unknown }): Fault[] {
    const name = type.replaceAll(/(?<=.)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
    return this.#validate(name, { $ref: `#/components/schemas/${name}` }, payload).map((fault) => ({
      ...fault,
      operation,
      path: `/*/${type}${fault.path}`,
    }))
  }

  #validate(name: string, schema: Json, body: unknown) {
    let validate = this.#compiled.get(name)
    if (!validate) {
      validate = this.#ajv.compile(this.#translate(schema) as Json)
      this.#compiled.set(name, validate)
    }
    validate(body)
    return (validate.errors ?? []).map((error) => ({ path: placeOf(error), message: error.message ?? '' }))
  }

  /** OpenAPI 3.0 says `nullable` where JSON Schema has a type of its own. Adds the schemas that it names: to add all of them takes seconds. */
  #translate(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.#translate(item))
    if (typeof schema !== 'object' || schema === null) return schema
    const { nullable, example, examples, ...rest } = schema as Json
    if (typeof rest.$ref === 'string') rest.$ref = this.#add(rest.$ref)
    const own = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, this.#translate(value)]))
    // A property may be called so too.
    const named = typeof nullable === 'object' ? { ...own, nullable: this.#translate(nullable) } : own
    return nullable === true ? { anyOf: [{ type: 'null' }, named] } : named
  }

  #add(reference: string) {
    const name = reference.replace('#/components/schemas/', '')
    if (!this.#added.has(name)) {
      this.#added.add(name)
      this.#ajv.addSchema(this.#translate(this.#schemas[name]) as Json, name)
    }
    return name
  }
}

/** Addresses may be templates, as the documentation's own examples are. */
const formats = {
  uri: (text: string) => URL.canParse(text.replaceAll(/\{[^}]*\}/g, 'x')),
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
}

function answersOf(responses: Json, shared: Record<string, Json>) {
  return Object.fromEntries(
    Object.entries(responses as Record<string, { $ref?: string; content?: Record<string, { schema: Json }> }>).map(
      ([status, response]) => {
        const { content = {} } = (response.$ref ? shared[response.$ref.split('/').at(-1) ?? ''] : response) as typeof response
        return [status, Object.fromEntries(Object.entries(content).map(([media, { schema }]) => [media, schema]))]
      },
    ),
  )
}

/** A fault's place in the body: a missing property's is its own. */
function placeOf({ instancePath, params, keyword }: ErrorObject) {
  const missing = keyword === 'required' ? `/${params.missingProperty}` : ''
  return `${instancePath}${missing}`.replaceAll(/\/\d+(?=\/|$)/g, '/*')
}
