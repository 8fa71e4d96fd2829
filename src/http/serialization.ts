import { Type } from '#platform/schema.ts'

/** How the response to a request is serialized: the base of its links, its version and its dialect. */
export interface Wire {
  api: string
  web: string
  version: string
  brand: Brand
}

/** Which names a response uses if the spec and the public documentation differ. The `Accept` header decides. */
export type Brand = 'service' | 'github'

/**
 * A field that the spec types without null, and the public documentation with null: `zero` stands for null, unless the client asks for the
 * public API. docs/decisions.md lists the fields.
 */
export const specified = <Value>(value: Value | null, zero: Value, { brand }: Pick<Wire, 'brand'>): Value | null =>
  brand === 'github' ? value : (value ?? zero)

/** The default version. */
export const firstVersion = '2022-11-28'

/** The first version without some old fields. */
export const slimVersion = '2026-03-10'

/** `type: [string, null]` serializes several times faster than a union of the two. */
export const NullableString = Type.Unsafe<string | null>({ type: ['string', 'null'] })
export const NullableBoolean = Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })
export const Timestamp = Type.String({ format: 'date-time' })
export const NullableTimestamp = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })

/**
 * An address composed of our base and names, without any character that JSON escapes, so the serializer does not check it. Never use it
 * for an address that a user typed.
 */
export const Address = Type.Unsafe<string>({ type: 'string', format: 'unsafe' })

/** Other forms of a `body` in Markdown, for clients that accept them, see rendered-bodies.ts. */
export const renderedForms = { body_html: Type.Optional(Type.String()), body_text: Type.Optional(Type.String()) }

/** A response without a body. */
export const Nothing = Type.Unsafe<void>({ type: 'null' })

/** Caches formatted timestamps, because they repeat and formatting one takes a microsecond. */
const written = new Map<number, string>()

/** The format of the public API: UTC, whole seconds. */
export function timestamp(date: Date) {
  const moment = date.getTime()
  let text = written.get(moment)
  if (text === undefined) {
    text = `${date.toISOString().slice(0, 19)}Z`
    if (written.size >= 10_000) written.clear()
    written.set(moment, text)
  }
  return text
}

/** A path in an address, such as a ref name; slashes stay. */
export const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/')

/** Global ids are opaque to clients. This is the older format of the public API. */
export function nodeId(kind: string, id: number) {
  return btoa(`0${kind.length}:${kind}${id}`)
}
