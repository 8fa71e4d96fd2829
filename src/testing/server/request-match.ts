import type { PathPattern, RecordedRequest, RequestMatch } from '../protocol.ts'

type Matched = Pick<RecordedRequest, 'method' | 'path' | 'user' | 'status'>

/** Compiled once for many requests. */
export function compileMatch({ method, path, user, status }: RequestMatch): (request: Matched) => boolean {
  const pattern = path === undefined ? undefined : compilePath(path)
  return (request) =>
    (method === undefined || method.toUpperCase() === request.method) &&
    (!pattern || pattern.test(request.path)) &&
    (user === undefined || user === request.user) &&
    (status === undefined || status === request.status)
}

function compilePath(path: string | PathPattern) {
  if (typeof path !== 'string') return new RegExp(path.source, path.flags.replaceAll(/[gy]/g, ''))
  const parts = path.split(/(\*\*|\*)/)
  const source = parts.map((part) =>
    part === '**' ? '.*' : part === '*' ? '[^/]+' : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'),
  )
  return new RegExp(`^${source.join('')}$`)
}
