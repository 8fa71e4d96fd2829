import { Type } from '#platform/schema.ts'

/** How the answers to one request are written: whose addresses their links carry, and in which version and dialect. */
export interface Wire {
  api: string
  web: string
  version: string
  brand: Brand
}

/** Whose names an answer uses where the spec and the public documentation differ: the `Accept` header says. */
export type Brand = 'service' | 'github'

/** The version whose shapes are spoken when none is asked for. */
export const firstVersion = '2022-11-28'

/** From this version on, some old fields are gone. */
export const slimVersion = '2026-03-10'

/** `type: [string, null]` serializes several times faster than a union of the two. */
export const NullableString = Type.Unsafe<string | null>({ type: ['string', 'null'] })
export const NullableBoolean = Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] })
export const Timestamp = Type.String({ format: 'date-time' })
export const NullableTimestamp = Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' })

/**
 * An address made of our own base and names, none of which holds a character that JSON would escape: the serializer need not look.
 * Never for an address that somebody typed.
 */
export const Address = Type.Unsafe<string>({ type: 'string', format: 'unsafe' })

/** An answer without a body. */
export const Nothing = Type.Unsafe<void>({ type: 'null' })

/** Moments come back again and again in answers, and writing one takes a microsecond: those last written are kept. */
const written = new Map<number, string>()

/** A moment as clients of the interface have always read it: UTC, whole seconds. */
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

/** Global ids are opaque to clients; this spelling is the one older clients know. */
export function nodeId(kind: string, id: number) {
  return btoa(`0${kind.length}:${kind}${id}`)
}
