import type { Viewer } from '#identity/accounts.ts'
import { responseAge, type Topic } from '#platform/topics.ts'
import type { Timeline, TimelinePage, View } from './timelines.ts'

/**
 * What a page of a timeline depends on: its own topic, its sources, what the viewer has access to, and the repositories of its
 * events, whose texts may change. Undefined if there are so many sources that the timeline changes too often for a check to be worth it, or if
 * an event soon reaches the age at which it is no longer shown.
 */
export function topicsOf(
  timeline: Timeline,
  { since }: View,
  viewer: Viewer,
  { rows, sources }: TimelinePage,
): Topic[] | undefined {
  if (!timeline.topic || (timeline.sources && !sources)) return undefined
  const oldest = rows.at(-1)?.created_at
  if (oldest && oldest.getTime() - since.getTime() < responseAge) return undefined
  const { repositories, actors } = sources ?? { repositories: [], actors: [] }
  return [
    'w',
    timeline.topic,
    ...(viewer.viewer_id ? [`a${viewer.viewer_id}` as const] : []),
    ...(viewer.token_id ? [`k${viewer.token_id}` as const] : []),
    ...new Set([...repositories, ...rows.map(({ repo_id }) => repo_id)].map((id) => `r${id}` as const)),
    ...actors.map((id) => `u${id}` as const),
  ]
}
