import type { EventRecord } from './records.ts'

export type EventGroup = [EventRecord, ...EventRecord[]]

/** Events further apart than this are not one line. In milliseconds. */
const longest = 24 * 3_600_000
const most = 100

/**
 * Puts events that stand next to each other together, if one sentence can say them: stars and forks of a repository, pushes to a branch, stars
 * by one person, branches or tags by one person, and labels of one issue. Newest first.
 */
export function groupEvents(records: EventRecord[]): EventGroup[] {
  const groups: { group: EventGroup; keys: string[] }[] = []
  for (const record of records) {
    const last = groups.at(-1)
    const keys = keysOf(record)
    const shared = last?.keys.filter((key) => keys.includes(key)) ?? []
    if (last && shared.length > 0 && isNear(last.group, record)) {
      last.group.push(record)
      // From the second event on it is decided what the events of the group have in common.
      last.keys = shared
    } else groups.push({ group: [record], keys })
  }
  return groups.map(({ group }) => group)
}

const isNear = (group: EventGroup, { event }: EventRecord) =>
  group.length < most && group[0].event.created_at.getTime() - event.created_at.getTime() <= longest

/** Events that share one of them may be one line. */
function keysOf({ event, issue, pull, label }: EventRecord): string[] {
  const { repo_id, actor_id, type } = event
  switch (type) {
    case 'WatchEvent':
      return [`${type} of ${repo_id}`, `${type} by ${actor_id}`]
    case 'ForkEvent':
      return [`${type} of ${repo_id}`]
    case 'PushEvent':
      return [`${type} to ${repo_id} ${event.payload.ref}`]
    case 'CreateEvent':
    case 'DeleteEvent':
      return event.payload.ref === null ? [] : [`${type} ${event.payload.ref_type} ${repo_id} by ${actor_id}`]
    case 'IssuesEvent':
    case 'PullRequestEvent':
      return label ? [`${event.payload.action} ${(pull ?? issue)?.number} ${repo_id} by ${actor_id}`] : []
    default:
      return []
  }
}
