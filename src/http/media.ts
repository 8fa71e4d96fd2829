import type { Readable } from 'node:stream'
import type { Dialect } from './dialects.ts'
import type { Brand } from './serialization.ts'

/**
 * Other representations of a resource, by the word of the media type that requests them: `diff` in `application/vnd.github.diff`. An
 * endpoint declares those that it has, and its handler gets the one to send. `object` is JSON in another
 * shape, and `octets` the contents of a file, which have a type of their own. A whole media type is the only representation.
 */
export type Medium = 'raw' | 'html' | 'diff' | 'patch' | 'sha' | 'object' | 'octets' | Plain
type Plain = 'text/html' | 'text/plain' | 'text/csv'

export const isPlain = (medium: Medium): medium is Plain => medium.includes('/')

/** The declared representation that the client accepts; undefined for the usual JSON. */
export const chooseMedium = (declared: readonly Medium[] | undefined, { media }: Dialect) =>
  declared?.find((medium) => media.has(medium))

export const mediaType = (brand: Brand, medium: Medium) =>
  isPlain(medium) ? medium : medium === 'octets' ? 'application/octet-stream' : `application/vnd.${brand}.v3.${medium}`

/** A body that is not JSON. */
export class Represented {
  readonly medium: Medium
  readonly content: string | Buffer | Readable

  constructor(medium: Medium, content: string | Buffer | Readable) {
    this.medium = medium
    this.content = content
  }
}
