import { hash } from 'node:crypto'

/** A strong validator of exactly these bytes. */
export function etagOf(body: string) {
  return `"${hash('sha1', body)}"`
}

const second = (moment: Date) => Math.floor(moment.getTime() / 1000)

/** A version of a response, by date. */
export interface Version {
  /** When this version was first found. */
  changed_at: Date
  /** The date, in whole seconds, that is sent for this version only. */
  last_modified: Date
  /** Found by this request, so no client has it yet. */
  found: boolean
  /** `last_modified` as it is sent. Writing and reading it again for each poll takes a tenth of a 304. */
  text?: string
}

/** For data that changes at most once a second. */
export function versionOf(changed_at: Date): Version {
  return { changed_at, last_modified: new Date(second(changed_at) * 1000), found: false }
}

/**
 * The date to send. HTTP dates are whole seconds, and no date may be in the future: when two versions were found within one second, the
 * date of the later one is the next second. Until then the second before that date is sent, which gets an answer and never a 304.
 */
export function lastModifiedOf(version: Version, now: Date) {
  const { last_modified } = version
  if (last_modified > now) return new Date(last_modified.getTime() - 1000).toUTCString()
  version.text ??= last_modified.toUTCString()
  return version.text
}

interface Asked {
  'if-none-match'?: string | undefined
  'if-modified-since'?: string | undefined
}

/** Whether the client has exactly these bytes. */
export function isFresh({ 'if-none-match': tags }: Asked, etag: string | undefined) {
  if (tags === undefined || etag === undefined) return false
  return tags.trim() === '*' || tags.split(',').some((tag) => sameTag(tag.trim(), etag))
}

/**
 * Whether the client has this version by its date: the date that was sent with it, or a date of the client's own from a later second than the
 * change. Within the second of a change a clock proves nothing. With an `If-None-Match`, the date is ignored.
 */
export function isUnchanged({ 'if-none-match': tags, 'if-modified-since': since }: Asked, version: Version) {
  if (tags !== undefined || since === undefined || version.found) return false
  if (since === version.text) return true
  const date = Date.parse(since)
  return date === version.last_modified.getTime() || date > second(version.changed_at) * 1000
}

/** A compressing proxy makes our tags weak. For a GET, weak and strong tags compare equal. */
function sameTag(asked: string, etag: string) {
  return asked === etag || asked === `W/${etag}`
}
