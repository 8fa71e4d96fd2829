import { loadRepository } from '#hosting/repositories/repositories.ts'
import { Moved } from '#http/moved.ts'
import { type Account, loadUser } from '#identity/accounts.ts'
import { type Timeline, timelines } from '#parts/timelines/timelines.ts'
import { type Database, sql } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { typed } from '#web/fields.ts'

/** The kinds of events that people choose from. Every type of event is in one of them. */
export const kinds = {
  code: { text: 'Pushes, branches and tags', types: ['PushEvent', 'CreateEvent', 'DeleteEvent'] },
  issues: { text: 'Issues', types: ['IssuesEvent'] },
  pulls: { text: 'Pull requests and reviews', types: ['PullRequestEvent', 'PullRequestReviewEvent'] },
  comments: { text: 'Comments', types: ['IssueCommentEvent', 'PullRequestReviewCommentEvent', 'CommitCommentEvent'] },
  releases: { text: 'Releases', types: ['ReleaseEvent'] },
  stars: { text: 'Stars and forks', types: ['WatchEvent', 'ForkEvent'] },
  access: { text: 'Collaborators and repositories made public', types: ['MemberEvent', 'PublicEvent'] },
} as const

export type Kind = keyof typeof kinds

/** What a visitor wants to see of their timeline, as the address of the page says it. */
export interface FeedChoice {
  from: 'all' | 'repositories' | 'people'
  kinds: Kind[]
  /** `owner/name`; empty for all. */
  repo: string
  /** A login; empty for all. */
  by: string
}

export function readChoice(query: URLSearchParams): FeedChoice {
  const from = query.get('from')
  return {
    from: from === 'repositories' || from === 'people' ? from : 'all',
    kinds: [...new Set(query.getAll('kind'))].filter((kind): kind is Kind => Object.hasOwn(kinds, kind)),
    repo: typed(query, 'repo').slice(0, 140),
    by: typed(query, 'by').slice(0, 40),
  }
}

export function addressOf(choice: FeedChoice, more: Record<string, string> = {}): string {
  const query = new URLSearchParams([
    ...(choice.from === 'all' ? [] : [['from', choice.from]]),
    ...choice.kinds.map((kind) => ['kind', kind]),
    ...(choice.repo ? [['repo', choice.repo]] : []),
    ...(choice.by ? [['by', choice.by]] : []),
    ...Object.entries(more),
  ])
  return query.size ? `/?${query}` : '/'
}

export const isNarrowed = ({ from, kinds: chosen, repo, by }: FeedChoice) =>
  from !== 'all' || chosen.length > 0 || repo !== '' || by !== ''

/** The timeline of a choice; undefined if its repository or person does not exist, or is hidden from the visitor. */
export async function timelineOf(db: Database, visitor: Account, { from, repo, by }: FeedChoice): Promise<Timeline | undefined> {
  const viewer = { viewer_id: visitor.id, sees_private: true }
  try {
    if (repo) {
      const [owner = '', name = ''] = repo.split('/')
      const timeline = timelines.repository(await loadRepository(db, viewer, owner, name))
      return by ? within(timeline, timelines.actor(await loadUser(db, by))) : timeline
    }
    if (by) return timelines.actor(await loadUser(db, by))
  } catch (error) {
    if (error instanceof Moved) return timelines.repository(error.to)
    if (error instanceof Refusal && error.reason === 'missing') return undefined
    throw error
  }
  return { all: timelines.received, repositories: timelines.watched, people: timelines.followed }[from](visitor)
}

const within = (one: Timeline, other: Timeline): Timeline => ({
  condition: sql`${one.condition} and ${other.condition}`,
  fixed: { ...one.fixed, ...other.fixed },
})

export const typesOf = ({ kinds: chosen }: FeedChoice) => chosen.flatMap((kind) => kinds[kind].types)
