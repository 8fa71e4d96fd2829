import type { Endpoint } from './endpoint.ts'

const none = new URLSearchParams()

/** The parameter names of each endpoint, collected once. */
const names = new WeakMap<Endpoint, Set<string>>()

function namesOf(endpoint: Endpoint) {
  let declared = names.get(endpoint)
  if (!declared) {
    declared = new Set([...Object.keys(endpoint.query ?? {}), ...(endpoint.list ? ['per_page', 'page'] : [])])
    names.set(endpoint, declared)
  }
  return declared
}

/**
 * The declared parameters of an address, each once. All others are ignored, so that equivalent addresses share a cached response and
 * have the same links.
 */
export function readParameters(endpoint: Endpoint, url: string): URLSearchParams {
  const mark = url.indexOf('?')
  if (mark < 0) return none
  const declared = namesOf(endpoint)
  const known = new URLSearchParams()
  for (const [name, value] of new URLSearchParams(url.slice(mark))) {
    if (declared.has(name) && !known.has(name)) known.append(name, value)
  }
  return known
}
