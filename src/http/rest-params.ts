import type { FastifyInstance } from 'fastify'
import type { Endpoint } from './endpoint.ts'

const pattern = /\{(\w+)\+\}(?:\/(.+))?$/s

/** The parameter of a path that takes slashes, as `{ref+}`, and what follows it, as `status` in `…/commits/{ref+}/status`. */
export function restOf(path: string): { name: string; suffix: string | undefined } | undefined {
  const [, name, suffix] = pattern.exec(path) ?? []
  return name === undefined ? undefined : { name, suffix }
}

/** The path with a value for that parameter. */
export const fillRest = (path: string, value: string) =>
  path.replace(pattern, (_, _name, suffix?: string) => (suffix === undefined ? value : `${value}/${suffix}`))

/** The value of that parameter, in the text that the router found. */
export function readRest(path: string, found: string) {
  const suffix = restOf(path)?.suffix
  return suffix === undefined ? found : found.slice(0, -suffix.length - 1)
}

/** The router has only a wildcard at the end of a path. A constraint chooses between the endpoints with the same wildcard. */
export function routeOf(path: string) {
  const suffix = restOf(path)?.suffix
  const url = path.replace(pattern, '*')
  return { url: url.replaceAll(/\{(\w+)\}/g, ':$1'), ...(suffix !== undefined && { constraints: { suffix } }) }
}

/**
 * Finds the suffix of an address: the longest declared one, after a segment that some endpoint has before its `{name+}`. A ref cannot
 * end with a declared suffix, because the endpoint takes precedence; a ref that is equal to a suffix is still found.
 */
export function suffixConstraint(endpoints: Endpoint[]): Strategy {
  const declared = endpoints.flatMap(({ path }) => {
    const [, segment, suffix] = /\/([^/]+)\/\{\w+\+\}\/(.+)$/s.exec(path) ?? []
    return segment !== undefined && suffix !== undefined ? [{ segment, suffix }] : []
  })
  const segments = [...new Set(declared.map(({ segment }) => `/${segment}/`))]
  const suffixes = [...new Set(declared.map(({ suffix }) => `/${suffix}`))].sort((one, other) => other.length - one.length)
  const follows = (before: string, segment: string) => {
    const at = before.indexOf(segment)
    return at >= 0 && at + segment.length < before.length
  }
  return {
    name: 'suffix',
    storage: () => {
      const handlers = new Map<unknown, Handler>()
      return { get: (suffix) => handlers.get(suffix) ?? null, set: (suffix, handler) => void handlers.set(suffix, handler) }
    },
    deriveConstraint: ({ url = '' }) => {
      const [path = ''] = url.split('?', 1)
      const isFound = (suffix: string) =>
        path.endsWith(suffix) && segments.some((segment) => follows(path.slice(0, -suffix.length), segment))
      return suffixes.find(isFound)?.slice(1)
    },
  }
}

type Strategy = Parameters<FastifyInstance['addConstraintStrategy']>[0]
type Handler = Parameters<ReturnType<Strategy['storage']>['set']>[1]
