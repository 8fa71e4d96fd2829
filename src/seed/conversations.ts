import type { NewIssue } from '#hosting/issues/update.ts'
import type { Verdict } from '#hosting/reviews/update.ts'
import {
  changeIssue,
  closeIssue,
  closePull,
  comment,
  merge,
  openIssue,
  openPullOf,
  publishRelease,
  reviewPull,
} from './acting.ts'
import type { Seed } from './format.ts'
import type { Path } from './path.ts'
import { actorFor, milestoneKey } from './repositories.ts'
import type { SeedComment, SeedIssue, SeedPullRequest, SeedRepository, SeedReview } from './repository-format.ts'
import type { SeedStage } from './seed-stage.ts'
import { type Step, sharing, type Thread, type Timetable } from './timetable.ts'

/** Issues, pull requests and releases. They follow the commits of all repositories, because a pull request may come from a fork. */
export function planConversations(timetable: Timetable, { repositories = [], organizations = [] }: Seed, threads: Thread[]) {
  for (const [index, repository] of repositories.entries()) {
    const thread = threads[index]
    if (!thread) continue
    const at = { timetable, thread, repository, owner: actorFor(repository.name, organizations) }
    const path = ['repositories', index]
    for (const [place, issue] of (repository.issues ?? []).entries()) planIssue(at, [...path, 'issues', place], issue)
    for (const [place, pull] of (repository.pull_requests ?? []).entries()) planPull(at, [...path, 'pull_requests', place], pull)
    for (const [place, { author = at.owner, at: date, ...release }] of (repository.releases ?? []).entries())
      timetable.add(thread, [...path, 'releases', place], date, (stage) =>
        publishRelease(stage, author, repository.name, release),
      )
  }
}

interface Context {
  timetable: Timetable
  thread: Thread
  repository: SeedRepository
  /** Does what no one is named for. */
  owner: string
}

function planIssue({ timetable, thread, repository, owner }: Context, path: Path, issue: SeedIssue) {
  const [full_name, key, { author = owner }] = [repository.name, path.join(' '), issue]
  const open = sharing(async (stage) => {
    const wanted = { title: issue.title, body: issue.body ?? '', ...triageOf(stage, full_name, issue) }
    await openIssue(stage, author, full_name, key, wanted, 'triage')
  })
  const own = beginOwn(timetable, thread, path, issue.at, open)
  planComments({ timetable, thread: own, repository, owner }, path, key, issue.comments)
  if (issue.state === 'closed') {
    const reason = issue.state_reason === 'not_planned' ? 'not_planned' : undefined
    const by = issue.closed_by ?? author
    const close = sharing((stage) => closeIssue(stage, by, full_name, key, reason))
    timetable.add(own, path, issue.closed_at, close, 'closed_at')
  }
  endOwn(thread, own)
}

/** What belongs to an issue is not before it. */
function beginOwn(timetable: Timetable, thread: Thread, path: Path, at: string | undefined, run: Step['run']): Thread {
  const own = { ...thread }
  own.began = timetable.add(own, path, at, run)
  return own
}

function endOwn(thread: Thread, own: Thread) {
  if (own.at) thread.at = own.at
}

function triageOf(stage: SeedStage, full_name: string, { labels, assignees, milestone }: SeedIssue | SeedPullRequest) {
  const sorted: Pick<NewIssue, 'labels' | 'assignees' | 'milestone'> = {
    ...(labels?.length && { labels }),
    ...(assignees?.length && { assignees }),
    ...(milestone !== undefined && { milestone: stage.numberOf(milestoneKey(full_name, milestone)) }),
  }
  return sorted
}

function planComments({ timetable, thread, repository, owner }: Context, path: Path, key: string, comments: SeedComment[] = []) {
  for (const [place, { author = owner, body, at }] of comments.entries()) {
    const write = sharing((stage) => comment(stage, author, repository.name, key, body))
    timetable.add(thread, [...path, 'comments', place], at, write)
  }
}

function planPull(context: Context, path: Path, pull: SeedPullRequest) {
  const { timetable, thread, repository, owner } = context
  const [full_name, key] = [repository.name, path.join(' ')]
  const { title, body = '', author = owner, head, base = repository.default_branch ?? 'main', draft, reviewers = [] } = pull
  const own = beginOwn(timetable, thread, path, pull.at, async (stage) => {
    const wanted = { title, body, head, base, ...(draft && { draft }), reviewers }
    await openPullOf(stage, author, full_name, key, wanted)
    const sorted = triageOf(stage, full_name, pull)
    if (Object.keys(sorted).length) await changeIssue(stage, owner, full_name, key, sorted)
  })
  for (const [place, review] of (pull.reviews ?? []).entries())
    timetable.add(own, [...path, 'reviews', place], review.at, (stage) => writeReview(stage, full_name, key, review))
  planComments({ ...context, thread: own }, path, key, pull.comments)
  const { state = 'open', merge_method = 'merge', closed_by = owner, closed_at } = pull
  if (state === 'merged')
    timetable.add(own, path, closed_at, (stage) => merge(stage, closed_by, full_name, key, merge_method), 'closed_at')
  if (state === 'closed') timetable.add(own, path, closed_at, (stage) => closePull(stage, closed_by, full_name, key), 'closed_at')
  endOwn(thread, own)
}

const verdicts: Record<SeedReview['state'], Verdict> = {
  approved: 'APPROVE',
  changes_requested: 'REQUEST_CHANGES',
  commented: 'COMMENT',
}

const writeReview = (stage: SeedStage, full_name: string, key: string, { author, state, body = '', comments }: SeedReview) =>
  reviewPull(stage, author, full_name, key, verdicts[state], body, comments)
