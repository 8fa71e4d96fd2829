import type { Viewer } from '#identity/accounts.ts'
import { type Database, sql } from '#platform/database.ts'
import { responseAge, type Topic } from '#platform/topics.ts'
import type { EventRow } from './event-rows.ts'
import type { Timeline, View } from './timelines.ts'

/** In repositories and users. With more, a timeline changes too often for a check to be worth it. */
const mostSources = 200

/**
 * What a page of a timeline depends on: its own topic, its sources, what the viewer has access to, and the repositories of its
 * events, whose texts may change. Undefined if there are too many sources, or an event soon reaches the age at which it is no longer shown.
 */
export async function topicsOf(
  db: Database,
  { topic, sources }: Timeline,
  { since }: View,
  viewer: Viewer,
  events: EventRow[],
): Promise<Topic[] | undefined> {
  if (!topic) return undefined
  const oldest = events.at(-1)?.created_at
  if (oldest && oldest.getTime() - since.getTime() < responseAge) return undefined
  const { repositories, actors } = sources ? await listSources(db, sources) : { repositories: [], actors: [] }
  if (repositories.length > mostSources || actors.length > mostSources) return undefined
  return [
    'w',
    topic,
    ...(viewer.viewer_id ? [`a${viewer.viewer_id}` as const] : []),
    ...(viewer.token_id ? [`k${viewer.token_id}` as const] : []),
    ...new Set([...repositories, ...events.map(({ repo_id }) => repo_id)].map((id) => `r${id}` as const)),
    ...actors.map((id) => `u${id}` as const),
  ]
}

async function listSources(db: Database, { repositories, actors }: NonNullable<Timeline['sources']>) {
  const [found] = await db.genericPlanRows<{ repositories: number[]; actors: number[] }>(sql`
    select array(${repositories} limit ${mostSources + 1}) as repositories,
      ${actors ? sql`array(${actors} limit ${mostSources + 1})` : sql`'{}'::bigint[]`} as actors`)
  return { repositories: found?.repositories.map(Number) ?? [], actors: found?.actors.map(Number) ?? [] }
}
