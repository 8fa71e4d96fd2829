import { hash } from 'node:crypto'

/** A strong validator of exactly these bytes. */
export function etagOf(body: string) {
  return `"${hash('sha1', body)}"`
}

/**
 * The date to send for a change. HTTP dates are whole seconds: while the second of the last change is not over, another change may
 * follow in it, so the date sent is the second before. Whoever asks with it gets an answer, never a wrong 304.
 */
export function lastModifiedOf(changed: Date, now: Date) {
  const second = Math.floor(changed.getTime() / 1000)
  const over = Math.floor(now.getTime() / 1000) > second
  return new Date((over ? second : second - 1) * 1000).toUTCString()
}

interface Asked {
  'if-none-match'?: string | undefined
  'if-modified-since'?: string | undefined
}

/** Whether the client has it already. An `If-None-Match` speaks alone: a date beside it is not looked at. */
export function isFresh(asked: Asked, etag: string | undefined, last_modified: string | undefined) {
  const tags = asked['if-none-match']
  if (tags !== undefined)
    return etag !== undefined && (tags.trim() === '*' || tags.split(',').some((tag) => sameTag(tag.trim(), etag)))
  const since = asked['if-modified-since']
  if (since === undefined || last_modified === undefined) return false
  return Date.parse(last_modified) <= Date.parse(since)
}

/** A proxy that compresses weakens our tags on the way; for a GET the two are the same. */
function sameTag(asked: string, etag: string) {
  return asked === etag || asked === `W/${etag}`
}
