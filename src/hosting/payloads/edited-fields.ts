import type { Changes } from '#activity/facts.ts'

/** The previous values of the fields that differ; undefined when none does. A field that was not set counts as an empty string. */
export function changesOf<Row>(before: Row, after: Row, ...names: (keyof Row & string)[]): Changes | undefined {
  const changed = names.filter((name) => before[name] !== after[name])
  return changed.length ? Object.fromEntries(changed.map((name) => [name, { from: before[name] ?? '' }])) : undefined
}
