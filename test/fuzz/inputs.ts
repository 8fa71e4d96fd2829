import { type Document, type Operation, type Schema, type seeded, valid } from '#test/openapi.ts'

export type Pick = ReturnType<typeof seeded>
export const moods = ['valid', 'near', 'hostile'] as const
export type Mood = (typeof moods)[number]

/** Ids and names that responses had, by what they are, so that requests reach records that exist. */
export class Seen {
  readonly #values = new Map<string, string[]>()

  note(kind: string, value: string) {
    const values = this.#values.get(kind) ?? []
    if (values.includes(value)) return
    // The oldest leave, except the first few: those are of the world as it was made.
    if (values.length >= mostSeen) values.splice(firstSeen, 1)
    values.push(value)
    this.#values.set(kind, values)
  }

  /** Notes all ids in a JSON text, and those in addresses by the collection that they belong to. */
  read(text: string) {
    for (const [, kind = '', value = ''] of text.matchAll(/"(id|number|sha|node_id|guid)":\s*"?([\w=+/-]{1,64})"?/g))
      this.note(kind, value)
    for (const [, kind = '', value = ''] of text.matchAll(/\/([a-z_-]+)\/(\d+)(?=["/?{])/g)) this.note(kind, value)
  }

  of(kind: string): readonly string[] {
    return this.#values.get(kind) ?? []
  }
}
const mostSeen = 200
const firstSeen = 100

const names: Record<string, readonly string[]> = {
  owner: ['ada', 'ada', 'ada', 'ben', 'acme'],
  repo: ['secret', 'secret', 'open', 'bens', 'hidden'],
  org: ['acme', 'acme', 'bens'],
  username: ['ada', 'ben', 'admin'],
  team_slug: ['crew'],
  name: ['bug', 'web'],
  branch: ['main', 'topic'],
  ref: ['main', 'topic', 'heads/main'],
  path: ['README.md', 'notes.txt', ''],
  basehead: ['main...topic'],
  q: ['confidential', 'confidential repo:ada/secret', 'is:private', 'user:ada', 'org:acme', 'smoke'],
}

const hostileNames = [
  '',
  '0',
  '-1',
  '9'.repeat(20),
  '%00',
  '..%2f..',
  '%ff',
  '%F0%9F%92%A5',
  'x'.repeat(300),
  "'--",
  '~1',
  '~',
  '.git',
]
export const hostileValues = [
  '',
  '0',
  '-1',
  '9'.repeat(20),
  'x',
  '%00',
  '%ff',
  'x'.repeat(1500),
  '2026-01-01T00:00:00Z',
  'null',
  '[]',
  '%5B%5D',
]

export function parameter(name: string, pick: Pick, seen: Seen): string {
  const known = names[name]
  if (known) return encodeURIComponent(pick(known)).replaceAll('%2F', '/')
  const kind = /sha$/.test(name) ? 'sha' : /number$/.test(name) ? 'number' : 'id'
  // Of `comment_id`, most often the id of a comment.
  const own = seen.of(`${name.replace(/_(?:id|number)$/, '')}s`)
  const pool = own.length && pick([true, true, true, false]) ? own : seen.of(kind)
  return pool.length && pick([true, true, true, false]) ? encodeURIComponent(pick(pool)) : '1'
}

/** The path and query of a request. */
export function addressOf({ path, parameters = [] }: Operation, mood: Mood, pick: Pick, seen: Seen): string {
  const hostile = mood === 'hostile'
  const named = path.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) =>
    hostile && pick([true, false, false]) ? pick(hostileNames) : parameter(name, pick, seen),
  )
  const query = parameters.filter((each) => each.in === 'query' && pick([true, false]))
  // Eight long values still fit into an address.
  const pairs = query
    .slice(0, 8)
    .map(({ name, schema }) => `${name}=${hostile ? pick(hostileValues) : queryValue(name, schema, mood, pick, seen)}`)
  return pairs.length ? `${named}?${pairs.join('&')}` : named
}

function queryValue(name: string, schema: Schema, mood: Mood, pick: Pick, seen: Seen) {
  if (name === 'q') return encodeURIComponent(pick(names.q ?? []))
  if (mood === 'near' && pick([true, false, false])) return pick(hostileValues)
  if (schema?.enum) return encodeURIComponent(`${pick(schema.enum)}`)
  if (/number|integer/.test(`${schema?.type}`)) return pick(['1', '2', '100'])
  return parameter(name, pick, seen)
}

const wrong = [
  null,
  1,
  -1,
  0,
  1e99,
  0.5,
  true,
  '',
  'x',
  '\0',
  '\ud800',
  '\u202e',
  'x'.repeat(70_000),
  [],
  [{}],
  [null],
  {},
  { x: { y: 1 } },
]
const raw = [
  '',
  '{',
  '[]',
  'null',
  '"x"',
  '\ufeff{}',
  '{}',
  '{"__proto__":{"admin":true}}',
  `${'['.repeat(2000)}${']'.repeat(2000)}`,
]

/** The body of a request; null for none. `text` is what the caller writes where a schema has any text. */
export function bodyOf(
  operation: Operation,
  document: Document,
  mood: Mood,
  pick: Pick,
  seen: Seen,
  text: () => string,
): string | null {
  if (operation.method === 'GET') return null
  const schema = operation.requestBody?.content['application/json']?.schema
  if (mood === 'hostile' && pick([true, false])) return pick(raw)
  if (!schema) return null
  const whole = generate(schema, document, pick, seen, text, 0)
  if (mood === 'valid' || typeof whole !== 'object' || whole === null) return JSON.stringify(whole)
  const fields = Object.keys(whole)
  if (!fields.length) return JSON.stringify({ unknown: pick(wrong) })
  const changed = mood === 'near' ? [pick(fields)] : fields.filter(() => pick([true, false]))
  return JSON.stringify({ ...whole, ...Object.fromEntries(changed.map((name) => [name, pick(wrong)])) })
}

function generate(schema: Schema, document: Document, pick: Pick, seen: Seen, text: () => string, depth: number): unknown {
  if (schema.$ref)
    return generate(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, document, pick, seen, text, depth)
  if (schema.anyOf) return generate(pick(schema.anyOf), document, pick, seen, text, depth)
  if (schema.enum) return pick(schema.enum)
  const inner = (each: Schema) => generate(each, document, pick, seen, text, depth + 1)
  switch (pick([schema.type].flat())) {
    case 'string':
      return (schema.minLength ?? 0) > 20
        ? valid(schema, document)
        : pick([text, text, () => pick(['main', 'topic', 'ada', 'ben', 'open', 'x'])])()
    case 'integer':
      return Number(pick([...seen.of('id').slice(0, 20), ...seen.of('number').slice(0, 5), '1', `${schema.minimum ?? 1}`]))
    case 'boolean':
      return pick([true, false])
    case 'array':
      return schema.items && depth < 4 ? Array.from({ length: pick([0, 1, 1, 2]) }, () => inner(schema.items ?? {})) : []
    case 'object': {
      const { properties = {}, required = [] } = schema
      const chosen = Object.entries(properties).filter(([name]) => required.includes(name) || pick([true, false]))
      return Object.fromEntries(chosen.map(([name, each]) => [name, inner(each)]))
    }
    default:
      return valid(schema, document)
  }
}
