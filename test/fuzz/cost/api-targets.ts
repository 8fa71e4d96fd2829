import { type Document, type Operation, operationsOf, type Schema, valid } from '#test/openapi.ts'
import { type Pick, parameter, type Seen } from '../inputs.ts'
import type { MeasuredWorld, Sent } from './measured-world.ts'
import { encodePath, encodeQuery, inAddress, inStructure, inText, type Target } from './target.ts'

/** What a body may have. A few operations take more, up to 64 MB; 3 MB of it show how the time grows. */
const mostOf = (path: string) => (/\/git\/(?:trees|blobs)$|\/contents\/|\/check-runs/.test(path) ? 3 : 1) * 1_000_000

/** Values of fields that a request is refused without, so that the others are read. */
function known(sha: string): Record<string, unknown> {
  return {
    ...{ sha, commit_id: sha, head_sha: sha, object: sha, target_commitish: 'main', branch: 'main', ref: 'refs/heads/topic' },
    ...{ head: 'topic', base: 'main', content: 'eA==', path: 'notes.txt', position: 1, event: 'COMMENT', email: 'a@example.com' },
    ...{ title: 'x', body: 'x', message: 'x', mode: '100644', url: 'https://example.com/', color: 'ff0000', encoding: 'utf-8' },
  }
}

/** Every part of the path, parameter, text, array and object of every operation. */
export function apiTargets(document: Document, base: 'api' | 'versioned', pick: Pick, seen: Seen): Target[] {
  const [sha = '0'.repeat(40)] = seen.of('sha')
  return operationsOf(document).flatMap((operation) => [
    ...pathTargets(operation, base, pick, seen),
    ...queryTargets(operation, base, pick, seen),
    ...bodyTargets(operation, base, document, known(sha), pick, seen),
  ])
}

function open({ method, path }: Operation, base: 'api' | 'versioned', world: MeasuredWorld, address: string): Sent {
  const { place } = world
  const token = path.startsWith('/admin') ? place.admin : place.ada
  const root = base === 'api' ? `${place.web}/api/v3` : place.versioned
  // A password that is wrong is refused after a slow hash, and says nothing about the rest.
  return { method, url: `${root}${address}`, headers: { authorization: `Bearer ${token}` } }
}

/** The address with the names of records that exist, and with `given` in place of one. */
function addressOf(path: string, pick: Pick, seen: Seen, given: Record<string, string> = {}) {
  const records = { owner: 'ada', repo: 'secret', org: 'acme', username: 'ada', issue_number: '1', pull_number: '2' }
  const own: Record<string, string> = { ...records, ...given }
  return path.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => own[name] ?? parameter(name, pick, seen))
}

const pathTargets = (operation: Operation, base: 'api' | 'versioned', pick: Pick, seen: Seen): Target[] =>
  [...operation.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name = '']) => ({
    ...inAddress,
    name: `${base} ${operation.operationId}: path ${name}`,
    send: (text, world) =>
      open(operation, base, world, addressOf(operation.path, pick, seen, { [name]: encodePath(text).slice(0, 15_500) })),
  }))

const queryTargets = (operation: Operation, base: 'api' | 'versioned', pick: Pick, seen: Seen): Target[] =>
  (operation.parameters ?? [])
    .filter((each) => each.in === 'query')
    .map(({ name }) => ({
      ...inAddress,
      name: `${base} ${operation.operationId}: query ${name}`,
      send: (text, world) =>
        open(operation, base, world, `${addressOf(operation.path, pick, seen)}?${name}=${encodeQuery(text, 15_000)}`),
    }))

function bodyTargets(
  operation: Operation,
  base: 'api' | 'versioned',
  document: Document,
  values: Record<string, unknown>,
  pick: Pick,
  seen: Seen,
): Target[] {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema || operation.method === 'GET') return []
  const most = mostOf(operation.path)
  const sending = (bodyOf: (text: string) => string) => (text: string, world: MeasuredWorld) => ({
    ...open(operation, base, world, addressOf(operation.path, pick, seen)),
    body: bodyOf(text),
  })
  const whole: Target[] = [
    {
      ...inStructure(most),
      name: `${base} ${operation.operationId}: body`,
      send: sending((text) => text),
    },
    {
      ...inStructure(most),
      name: `${base} ${operation.operationId}: unknown field`,
      send: sending((text) => objectWith(resolve(schema, document), document, { ...values, z: '\0' }, 'unknown', text, ['z'])),
    },
  ]
  const parts = partsOf(schema, document, values, '', 0).map(({ at, takes, body }): Target => {
    const make = takes === 'text' ? inText(most) : inStructure(most)
    const bodyOf = (text: string) => body.replace(hole, () => (takes === 'text' ? JSON.stringify(text) : text))
    return { ...make, name: `${base} ${operation.operationId}: body${at}`, send: sending(bodyOf) }
  })
  return [...whole, ...parts]
}

interface Part {
  at: string
  takes: 'text' | 'structure'
  /** JSON with a hole for the text. */
  body: string
}

/** Stands for the part that is replaced. */
const hole = '"~hole~"'
const filler = JSON.parse(hole) as string

function partsOf(schema: Schema, document: Document, values: Record<string, unknown>, at: string, depth: number): Part[] {
  if (schema.$ref) return partsOf(resolve(schema, document), document, values, at, depth)
  if (schema.anyOf) return schema.anyOf.flatMap((each) => partsOf(each, document, values, at, depth))
  if (depth > 4) return []
  const types = [schema.type].flat()
  const inner = (each: Schema, name: string) => partsOf(each, document, values, `${at}${name}`, depth + 1)
  return [
    ...(types.includes('string') && !schema.enum ? [{ at, takes: 'text', body: hole } as const] : []),
    ...(types.includes('array') ? [{ at, takes: 'structure', body: hole } as const] : []),
    ...(types.includes('array') ? inner(schema.items ?? {}, '[]').map((part) => ({ ...part, body: `[${part.body}]` })) : []),
    ...(types.includes('object')
      ? Object.entries(schema.properties ?? {}).flatMap(([name, each]) =>
          inner(each, `.${name}`).map((part) => ({ ...part, body: objectWith(schema, document, values, name, part.body) })),
        )
      : []),
    ...(types.includes('object') && !schema.properties ? [{ at, takes: 'structure', body: hole } as const] : []),
  ]
}

const resolve = (schema: Schema, { components }: Document) =>
  schema.$ref ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema

/** Fields without which a comment has no place. */
const helpful = ['position', 'event']

/** An object with the required fields, and with this one. */
function objectWith(
  { required = [], properties = {} }: Schema,
  document: Document,
  values: Record<string, unknown>,
  name: string,
  json: string,
  more: string[] = helpful.filter((each) => each in properties),
) {
  const others = [...required, ...more].filter((each) => each !== name)
  const given = others.map((each) => [each, values[each] ?? valid(properties[each] ?? {}, document)])
  return JSON.stringify({ ...Object.fromEntries(given), [name]: filler }).replace(hole, () => json)
}
