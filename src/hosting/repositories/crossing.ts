import type { Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, sql } from '#platform/database.ts'
import { visible } from './visibility.ts'

/**
 * Whether commits of one repository may be copied into another at this moment. Public commits may go anywhere. Private ones go only into
 * a private repository, and only while everyone in `people` has access to both repositories by name; null stands for a deleted account.
 * A request names its viewer too: with a token for some repositories, no commits of others can be copied.
 *
 * Callers read the commit to copy before they call this, so that access is checked after the commit was in the repository.
 */
export async function mayCopy(
  db: Queryable,
  from_id: number,
  to_id: number,
  people: (number | null)[],
  viewer?: Viewer,
): Promise<boolean> {
  if (from_id === to_id) return true
  const { rowCount } = await db.query(sql`
    select from repositories r, repositories target
    where r.id = ${from_id} and target.id = ${to_id} and (not r.private or (target.private and not exists (
      select from unnest(${people}::bigint[]) person
      where person is null or access_by_name(person, r) = 0 or access_by_name(person, target) = 0)))
      ${viewer ? sql`and ${visible(viewer)}` : empty}`)
  return rowCount === 1
}
