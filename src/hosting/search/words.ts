import { type Sql, sql } from '#platform/database.ts'

/**
 * A text query for names: each word may be the beginning of a longer one. `weights` limits it to parts of the document. Undefined if the text
 * has no word. Words that must not occur are excluded; `or` separates alternatives.
 */
export function prefixQuery(text: string, weights = ''): Sql | undefined {
  const alternatives = text
    .replaceAll(/\s+/g, ' ')
    .split(' or ')
    .map((part) =>
      [...part.matchAll(/(-)?("[^"]*"|\S+)/g)].flatMap(([, not, said = '']) =>
        (said.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => `${not ? '!' : ''}${word}:*${weights}`),
      ),
    )
    .filter((words) => words.length)
  if (!alternatives.length) return undefined
  return sql`to_tsquery('simple', ${alternatives.map((words) => `(${words.join(' & ')})`).join(' | ')})`
}
