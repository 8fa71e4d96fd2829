/** The text of a list's search box. The menus of the list rewrite it. */

export type ListKind = 'issues' | 'pulls'

const kindWord = { issues: 'is:issue', pulls: 'is:pr' } as const

export const defaultQuery = (only: ListKind, state: 'open' | 'closed' = 'open') => `${kindWord[only]} is:${state}`

/** A value with a space or a colon needs quotes. A quote in a value cannot be written, so it is left out. */
const quoted = (value: string) => (/^[\w@.,*-]+$/.test(value) ? value : `"${value.replaceAll('"', '')}"`)

/** The words and qualifiers of a query, each as it was written. */
const partsOf = (q: string) => q.match(/(?:[^\s"]|"[^"]*"?)+/g) ?? []

/** The values that a qualifier has in a query. */
export function valuesOf(q: string, name: string): string[] {
  return partsOf(q).flatMap((part) => {
    const [, found, value = ''] = /^([a-z-]+):(.*)$/is.exec(part) ?? []
    return found?.toLowerCase() === name ? value.replaceAll('"', '') : []
  })
}

/** The query with one value of a qualifier, in place of those it had; null removes the qualifier. */
export function withValue(q: string, name: string, value: string | null): string {
  const others = partsOf(q).filter((part) => !part.toLowerCase().startsWith(`${name}:`))
  return [...others, ...(value === null ? [] : [`${name}:${quoted(value)}`])].join(' ')
}

/** Adds a value of a qualifier that may have several, as a label, or removes it. */
export function withToggled(q: string, name: string, value: string): string {
  const has = (part: string) =>
    part.toLowerCase().startsWith(`${name}:`) && valuesOf(part, name)[0]?.toLowerCase() === value.toLowerCase()
  const parts = partsOf(q)
  return parts.some(has) ? parts.filter((part) => !has(part)).join(' ') : [...parts, `${name}:${quoted(value)}`].join(' ')
}

/** The same query for another state. */
export function withState(q: string, state: 'open' | 'closed'): string {
  const others = partsOf(q).filter((part) => !/^(?:is:(?:open|closed|merged|unmerged)|state:.*)$/i.test(part))
  const at = others.findIndex((part) => /^is:/i.test(part)) + 1
  return others.toSpliced(at, 0, `is:${state}`).join(' ')
}

export const stateIn = (q: string): 'open' | 'closed' | undefined => {
  const states = [...valuesOf(q, 'is'), ...valuesOf(q, 'state')].map((value) => value.toLowerCase())
  return states.includes('open') ? 'open' : states.includes('closed') || states.includes('merged') ? 'closed' : undefined
}

/** The query of an address, for a list that begins with one qualifier. */
export const queryFor = (only: ListKind, values: Record<string, string>) =>
  addressQuery(Object.entries(values).reduce((q, [name, value]) => withValue(q, name, value), defaultQuery(only)))

/** The query for one repository only; what it says about repositories is left out. */
export function withinRepository(q: string, { owner_login, name }: { owner_login: string; name: string }): string {
  const others = partsOf(q).filter((part) => !/^-?(?:repo|user|org):/i.test(part))
  return [...others, `repo:${owner_login}/${name}`].join(' ')
}

export const addressQuery = (q: string) => new URLSearchParams({ q }).toString()
