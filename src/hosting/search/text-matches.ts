import { type Static, Type } from '#platform/schema.ts'

export const TextMatches = Type.Array(
  Type.Object({
    object_url: Type.String(),
    object_type: Type.String(),
    property: Type.String(),
    fragment: Type.String(),
    matches: Type.Array(Type.Object({ text: Type.String(), indices: Type.Array(Type.Integer()) })),
  }),
)

const literal = (term: string) => term.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')

/** Terms also match longer words. */
export const wordPattern = (terms: string[]) => `(?<![\\p{L}\\p{N}])(?:${terms.map(literal).join('|')})[\\p{L}\\p{N}]*`

const before = 60
const longest = 250
const mostMatches = 20

/** Where the terms are in the texts of a record: of each text the part around the first of them. */
export function textMatches(
  object: { url: string; type: string },
  texts: Record<string, string | null>,
  terms: string[],
): Static<typeof TextMatches> {
  if (!terms.length) return []
  const pattern = new RegExp(wordPattern(terms), 'giu')
  return Object.entries(texts).flatMap(([property, text]) => {
    const first = text?.search(pattern) ?? -1
    if (!text || first < 0) return []
    const start = Math.max(0, first - before)
    const fragment = text.slice(start, start + longest).toWellFormed()
    const matches = [...fragment.matchAll(pattern)]
      .slice(0, mostMatches)
      .map((match) => ({ text: match[0], indices: [match.index, match.index + match[0].length] }))
    return matches.length ? [{ object_url: object.url, object_type: object.type, property, fragment, matches }] : []
  })
}
