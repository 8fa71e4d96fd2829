import { type Sql, sql } from './database.ts'

/**
 * PostgreSQL lowers both sides of a comparison that ignores case: JavaScript lowers `İ` and a final `Σ` differently. `test/lower-case.test.ts`
 * finds comparisons of `lower(…)` with a value that JavaScript prepared.
 */
export const lowerEach = (names: string[]): Sql =>
  sql`array(select distinct lower(n.name) from unnest(${names}::text[]) n (name))`
