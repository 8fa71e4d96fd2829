import { hash } from 'node:crypto'

/** A strong validator of exactly these bytes. */
export function etagOf(body: string) {
  return `"${hash('sha1', body)}"`
}

const second = (moment: Date) => Math.floor(moment.getTime() / 1000)

/**
 * The date to send for a change. HTTP dates are whole seconds: while the second of the last change is not over, another change may
 * follow in it, so the date sent is the second before. Whoever asks with it gets an answer, never a wrong 304.
 */
export function lastModifiedOf(changed: Date, now: Date) {
  const over = second(now) > second(changed)
  return new Date((over ? second(changed) : second(changed) - 1) * 1000).toUTCString()
}

interface Asked {
  'if-none-match'?: string | undefined
  'if-modified-since'?: string | undefined
}

/** Whether the client has these very bytes already. */
export function isFresh({ 'if-none-match': tags }: Asked, etag: string | undefined) {
  if (tags === undefined || etag === undefined) return false
  return tags.trim() === '*' || tags.split(',').some((tag) => sameTag(tag.trim(), etag))
}

/**
 * Whether the client has it by its date. An `If-None-Match` speaks alone: a date beside it is not looked at. Within the second of a
 * change nothing is certain, for the date that was sent for the change before may be the one that is sent now.
 */
export function isUnchanged(asked: Asked, changed: Date, now: Date) {
  const { 'if-none-match': tags, 'if-modified-since': since } = asked
  if (tags !== undefined || since === undefined || second(now) <= second(changed)) return false
  return second(changed) * 1000 <= Date.parse(since)
}

/** A proxy that compresses weakens our tags on the way; for a GET the two are the same. */
function sameTag(asked: string, etag: string) {
  return asked === etag || asked === `W/${etag}`
}
