import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'

/** Where a payload differs from its public schema, and why. */
export interface Difference {
  /** An event, or with a blank one of its actions. */
  event: string
  /** Where in the payload, with all that is in it; `*` is any item of a list. */
  path: string
  why: string
}

/** All differences. docs/differences.md lists the same. Tests of an event call `unneeded` to prove that its entries are needed. */
export const differences: Difference[] = [
  {
    event: 'deployment',
    path: '/deployment/payload',
    why: 'Is a string when the client sent text; the schema allows objects only.',
  },
  {
    event: 'deployment_status',
    path: '/deployment/payload',
    why: 'Is a string when the client sent text; the schema allows objects only.',
  },
  {
    event: 'member added',
    path: '/changes/permission/to',
    why: 'Can also be `read`; the schema allows `write` and `admin` only.',
  },
  {
    event: 'milestone created',
    path: '/milestone/state',
    why: 'Can also be `closed`, because a milestone can be created closed; the schema allows `open` only.',
  },
  { event: 'milestone created', path: '/milestone/closed_at', why: 'Is set when the milestone is created closed.' },
  {
    event: 'pull_request demilestoned',
    path: '/pull_request/milestone',
    why: 'Is null, because the pull request has no milestone after the act; the schema requires one.',
  },
  {
    event: 'pull_request_review',
    path: '/pull_request/head/repo',
    why: 'Is null when the head repository is deleted or hidden; only the schema of `pull_request` allows that.',
  },
  {
    event: 'pull_request_review_comment',
    path: '/pull_request/head/repo',
    why: 'Is null when the head repository is deleted or hidden; only the schema of `pull_request` allows that.',
  },
]

const met = new Set<Difference>()

/** Holds a payload against the public schema of its event and action. */
export function checkPayload(event: string, payload: object): void {
  const name = 'action' in payload ? `${event}$${payload.action}` : `${event}$event`
  assert.ok(name in definitions, `nothing is said publicly of ${name}`)
  const validate = validatorOf(name)
  validate(payload)
  const faults = (validate.errors ?? []).filter((error) => {
    const said = differences.find((one) => isOf(one.event, event, payload) && isIn(placeOf(error), one.path))
    if (said) met.add(said)
    return !said
  })
  assert.deepEqual([...new Set(faults.map((error) => `${name} ${placeOf(error)} ${error.message}`))], [])
}

const isOf = (said: string, event: string, payload: object) =>
  said === event || ('action' in payload && said === `${event} ${payload.action}`)

/** Those differences, by their events as they are written there, that no payload has shown so far. */
export function unneeded(...events: string[]): Difference[] {
  return differences.filter((one) => events.includes(one.event) && !met.has(one))
}

type Json = Record<string, unknown>

const place = createRequire(import.meta.url).resolve('@octokit/webhooks-schemas/schema.json')
const definitions = opened(JSON.parse(readFileSync(place, 'utf8')).definitions) as Record<string, Json>
const base = 'https://webhooks.example/'
const ajv = new Ajv({
  strict: false,
  allErrors: true,
  logger: false,
  validateSchema: false,
  formats: {
    uri: (text: string) => URL.canParse(text) && !/[{}\\\0 ]/.test(text),
    'uri-template': (text: string) => URL.canParse(text.replaceAll(/\{[^}]*\}/g, 'x')) && !/[\\\0 ]/.test(text),
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$/,
  },
}).addSchema({ definitions }, base)
const compiled = new Map<string, ValidateFunction>()

function validatorOf(name: string): ValidateFunction {
  const validate = compiled.get(name) ?? ajv.compile({ $ref: `${base}#/definitions/${name}` })
  compiled.set(name, validate)
  return validate
}

/** Payloads may hold more than is said of them. With that, one thing may be of several kinds, and need only be of one. */
function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened)
  if (typeof schema !== 'object' || schema === null) return schema
  const { $schema, ...rest } = schema as Json
  const entries = Object.entries(rest).filter(([key, value]) => !(key === 'additionalProperties' && value === false))
  return Object.fromEntries(entries.map(([key, value]) => [key === 'oneOf' ? 'anyOf' : key, opened(value)]))
}

/** A fault's place in the payload: a missing property's is its own. */
function placeOf({ instancePath, params, keyword }: ErrorObject) {
  const missing = keyword === 'required' ? `/${params.missingProperty}` : ''
  return `${instancePath}${missing}`.replaceAll(/\/\d+(?=\/|$)/g, '/*')
}

const isIn = (path: string, outer: string) => path === outer || path.startsWith(`${outer}/`)
