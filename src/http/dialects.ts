import type { Brand } from '#http/serialization.ts'

/** A parsed `Accept` header. */
export interface Dialect {
  brand: Brand
  /** Parts of a custom media type such as `star` in `application/vnd.service.v3.star+json`. */
  media: ReadonlySet<string>
  /** The media type for the response header. */
  media_type: string
  takes_json: boolean
  /** Accepts `text/event-stream`. */
  takes_stream: boolean
}

const custom = /^application\/vnd\.(service|github)((?:-[\w-]+)?(?:\.[\w-]+)*)(?:\+json)?$/

/** Clients repeat a few headers. The cache is bounded, because a hostile client could fill the memory. */
const remembered = new Map<string, Dialect>()

export function readAccept(header = '*/*'): Dialect {
  const known = remembered.get(header)
  if (known) return known
  const dialect = parse(header)
  if (remembered.size < 500) remembered.set(header, dialect)
  return dialect
}

function parse(header: string): Dialect {
  const ranges = header
    .toLowerCase()
    .split(',')
    .map((range) => range.trim())
    .filter((range) => !/;\s*q=0(\.0*)?\s*(;|$)/.test(range))
    .map((range) => (range.split(';', 1)[0] ?? '').trimEnd())
  const chosen = ranges.map((range) => custom.exec(range)).find((match) => match !== null)
  const brand: Brand = chosen?.[1] === 'github' ? 'github' : 'service'
  const parts = (chosen?.[2] ?? '').split('.').filter((part) => part && !/^v\d+$/.test(part))
  return {
    brand,
    media: new Set(ranges.includes('application/octet-stream') ? [...parts, 'octets'] : parts),
    media_type: [`${brand}.v3`, ...parts.map((part) => `param=${part}`), 'format=json'].join('; '),
    takes_json: header.trim() === '' || chosen !== undefined || ranges.some(isJson),
    takes_stream: ranges.includes('text/event-stream'),
  }
}

function isJson(range: string) {
  return range === '*/*' || range === '*' || range === 'application/*' || range === 'application/json' || range.endsWith('+json')
}
