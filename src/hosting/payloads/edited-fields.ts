import type { News } from './news.ts'

type Changes = Extract<News, { event: 'label' }>['payload']['changes']

/** What was changed, with what it was before; nothing when all is as it was. What was not there is told as an empty text. */
export function changesOf<Row>(before: Row, after: Row, ...names: (keyof Row & string)[]): { changes?: NonNullable<Changes> } {
  const changed = names.filter((name) => before[name] !== after[name])
  return changed.length ? { changes: Object.fromEntries(changed.map((name) => [name, { from: before[name] ?? '' }])) } : {}
}
