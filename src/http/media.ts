import type { Readable } from 'node:stream'
import type { Dialect } from './dialects.ts'
import type { Brand } from './serialization.ts'

/**
 * Other representations of a resource, by the word of the media type that requests them: `diff` in `application/vnd.github.diff`. An
 * endpoint declares those that it has, and its handler gets the one to send. `object` is JSON in another shape.
 */
export type Medium = 'raw' | 'html' | 'diff' | 'patch' | 'sha' | 'object'

/** The declared representation that the client accepts; undefined for the usual JSON. */
export const chooseMedium = (declared: readonly Medium[] | undefined, { media }: Dialect) =>
  declared?.find((medium) => media.has(medium))

export const mediaType = (brand: Brand, medium: Medium) => `application/vnd.${brand}.v3.${medium}`

/** A body that is not JSON. */
export class Represented {
  readonly medium: Medium
  readonly content: string | Buffer | Readable

  constructor(medium: Medium, content: string | Buffer | Readable) {
    this.medium = medium
    this.content = content
  }
}
