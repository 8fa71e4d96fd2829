import { type Queryable, sql } from '#platform/database.ts'

/**
 * Whether commits of one repository may be copied into another at this moment. Public commits may go anywhere. Private ones go only into
 * a private repository, and only while everyone in `people` has access to both repositories by name; null stands for a deleted account.
 *
 * Callers read the commit to copy before they call this, so that access is checked after the commit was in the repository.
 */
export async function mayCopy(db: Queryable, from_id: number, to_id: number, people: (number | null)[]): Promise<boolean> {
  if (from_id === to_id) return true
  const { rowCount } = await db.query(sql`
    select from repositories source, repositories target
    where source.id = ${from_id} and target.id = ${to_id} and (not source.private or (target.private and not exists (
      select from unnest(${people}::bigint[]) person
      where person is null or access_by_name(person, source) = 0 or access_by_name(person, target) = 0)))`)
  return rowCount === 1
}
