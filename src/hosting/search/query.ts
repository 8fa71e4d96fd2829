import { type Fault, invalid } from '#platform/errors.ts'

export interface Qualifier {
  name: string
  value: string
  negated: boolean
}

/** A parsed `q`. */
export interface SearchQuery {
  /** Words and phrases that are searched for, in the syntax of `websearch_to_tsquery`. */
  text: string
  /** The same without those that must not occur. */
  terms: string[]
  qualifiers: Qualifier[]
}

const longestQuery = 1024
const mostQualifiers = 50

export const refused = (message: string, code: Fault['code'] = 'invalid') =>
  invalid({ resource: 'Search', field: 'q', code, message })

/**
 * Splits a query into words, phrases and qualifiers. Only the qualifiers of this search are read as such; `a:b` with another name is text. A
 * qualifier that the public API has and Belfry does not is refused, because ignoring it would give a wrong result.
 */
export function parseQuery(q: string, known: ReadonlySet<string>, unsupported: ReadonlySet<string> = new Set()): SearchQuery {
  if (q.trim() === '') throw refused('q is required', 'missing')
  if (q.length > longestQuery) throw refused(`q has more than ${longestQuery} characters`)
  const text: string[] = []
  const terms: string[] = []
  const qualifiers: Qualifier[] = []
  for (const [, not, prefix, value = ''] of q.matchAll(/(-|NOT\s+)?(?:([a-z][a-z-]*):(?!\/\/))?("[^"]*"?|[^\s"]+)/gi)) {
    const name = prefix?.toLowerCase()
    if (name !== undefined && unsupported.has(name)) throw refused(`The qualifier ${name} is not supported.`)
    const plain = value.replaceAll('"', '').trim()
    if (name !== undefined && known.has(name)) {
      qualifiers.push({ name, value: plain, negated: not !== undefined })
      continue
    }
    const said = prefix === undefined ? value : `"${prefix} ${plain}"`
    if (plain === '' || /^(AND|OR|NOT)$/.test(said)) {
      if (said === 'OR' && text.length) text.push('or')
      continue
    }
    text.push(not === undefined ? said : `-${said}`)
    if (not === undefined) terms.push(plain)
  }
  if (qualifiers.length > mostQualifiers) throw refused(`q has more than ${mostQualifiers} qualifiers`)
  return { text: text.join(' '), terms, qualifiers }
}
