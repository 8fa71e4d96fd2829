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
  for (const record of withoutImplied(records)) {
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

/** An act causes several events at nearly the same time. In milliseconds. */
const together = 60_000

/**
 * Leaves out what another event of the same act says: the labels and assignees that an issue is opened with, the tag of a release, and the branch
 * that a push or a new repository creates.
 */
function withoutImplied(records: EventRecord[]): EventRecord[] {
  const said = new Map(
    records.flatMap((record) => implies(record).map((key) => [key, record.event.created_at.getTime()] as const)),
  )
  return records.filter((record) => {
    const at = said.get(impliedBy(record) ?? '')
    return at === undefined || Math.abs(at - record.event.created_at.getTime()) > together
  })
}

function implies({ event, issue, pull, release }: EventRecord): string[] {
  const by = `${event.repo_id} by ${event.actor_id}`
  switch (event.type) {
    case 'IssuesEvent':
    case 'PullRequestEvent':
      return event.payload.action === 'opened' ? [`subject ${(pull ?? issue)?.number} ${by}`] : []
    case 'ReleaseEvent':
      return release ? [`tag ${release.tag_name} ${by}`] : []
    case 'PushEvent':
      return [`branch ${event.payload.ref.replace('refs/heads/', '')} ${by}`]
    case 'CreateEvent':
      return event.payload.ref === null ? [`branch ${event.payload.master_branch} ${by}`] : []
    default:
      return []
  }
}

function impliedBy({ event, issue, pull }: EventRecord): string | undefined {
  const by = `${event.repo_id} by ${event.actor_id}`
  if (event.type === 'CreateEvent' && event.payload.ref !== null) return `${event.payload.ref_type} ${event.payload.ref} ${by}`
  const changed = (event.type === 'IssuesEvent' || event.type === 'PullRequestEvent') && event.payload.action
  return changed === 'labeled' || changed === 'assigned' ? `subject ${(pull ?? issue)?.number} ${by}` : undefined
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
