import type { Act } from '#activity/acts.ts'
import { publish } from '#activity/publish.ts'
import { findAssignable } from '#hosting/issues/assignees.ts'
import { touchIssue } from '#hosting/issues/issues.ts'
import { loadPull, lockPull, type Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { knownTo } from '#hosting/teams/teams.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { empty, type Queryable, type Sql, sql, type Transaction } from '#platform/database.ts'
import { Refusal } from '#platform/errors.ts'
import { lowerEach } from '#platform/lower-case.ts'

/** Reviewers: users by login, teams by slug. */
export interface Reviewers {
  reviewers: string[]
  team_reviewers: string[]
}

/** Requests reviews, and publishes the new requests only. */
export async function requestReviews(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  asker: Account,
  number: number,
  { reviewers, team_reviewers }: Reviewers,
): Promise<Pull> {
  const pull = await lockPull(db, repo, number, viewer)
  const wanted = await findAssignable(db, repo, reviewers)
  if (pull.author && wanted.some(({ id }) => id === pull.author?.id)) {
    throw new Refusal('invalid', 'Review cannot be requested from pull request author.')
  }
  const slugs = [...new Set(team_reviewers.map((slug) => slug.toLowerCase()))]
  const teams_wanted = await db.rows<{ id: number }>(sql`select t.id from ${teamsOf(repo, asker, slugs)}`)
  if (wanted.some(({ id }) => id === null) || teams_wanted.length < slugs.length) throw notCollaborators(repo)
  const people = await db.rows<{ user_id: number }>(sql`
    insert into review_requests (pull_id, user_id, requested_at)
    select ${pull.id}, unnest(${wanted.map(({ id }) => id)}::bigint[]), ${db.now}
    on conflict (pull_id, user_id) where user_id is not null do nothing returning user_id`)
  const teams = await db.rows<{ team_id: number }>(sql`
    insert into review_requests (pull_id, team_id, requested_at)
    select ${pull.id}, unnest(${teams_wanted.map(({ id }) => id)}::bigint[]), ${db.now}
    on conflict (pull_id, team_id) where team_id is not null do nothing returning team_id`)
  if (!people.length && !teams.length) return pull
  await touchIssue(db, { id: pull.issue_id })
  await publish(db, asker, repo, ...requestActs('review_requested', pull, [...people, ...teams]))
  return loadPull(db, repo, number, viewer)
}

/** Removes requests; users and teams without one are ignored. */
export async function withdrawRequests(
  db: Transaction,
  viewer: Viewer,
  repo: Repository,
  asker: Account,
  number: number,
  { reviewers, team_reviewers }: Reviewers,
): Promise<Pull> {
  const pull = await lockPull(db, repo, number, viewer)
  const slugs = team_reviewers.map((slug) => slug.toLowerCase())
  const withdrawn = await db.rows<{ user_id: number | null; team_id: number | null }>(sql`
    delete from review_requests where pull_id = ${pull.id} and (
      user_id in (select id from accounts where lower(login) = any(${lowerEach(reviewers)}))
      or team_id in (select t.id from ${teamsOf(repo, asker, slugs)}))
    returning user_id, team_id`)
  if (!withdrawn.length) return pull
  await touchIssue(db, { id: pull.issue_id })
  const people = withdrawn.filter(({ user_id }) => user_id)
  const teams = withdrawn.filter(({ team_id }) => team_id)
  await publish(db, asker, repo, ...requestActs('review_request_removed', pull, [...people, ...teams]))
  return loadPull(db, repo, number, viewer)
}

interface Asked {
  user_id?: number | null
  team_id?: number | null
}

/** One for each requested reviewer. */
function requestActs(verb: 'review_requested' | 'review_request_removed', { issue_id, id: pull_id }: Pull, asked: Asked[]) {
  return asked.flatMap(({ user_id, team_id }): Act[] => {
    if (user_id) return [{ act: `pull.${verb}`, issue_id, pull_id, requested_reviewer_id: user_id }]
    return team_id ? [{ act: `pull.team_${verb}`, issue_id, pull_id, requested_team_id: team_id }] : []
  })
}

/** The teams that the asker can request reviews from, by slug. */
export function listTeamReviewers(
  db: Queryable,
  repo: Repository,
  asker: { id: number },
  limit: number,
): Promise<{ id: number; slug: string }[]> {
  return db.rows(sql`select t.id, t.slug from ${teamsOf(repo, asker)} order by t.slug limit ${limit}`)
}

/** Teams of the owner with access to the repository that are visible to the asker: all, or those with these slugs. */
const teamsOf = (repo: Repository, asker: { id: number }, slugs?: string[]): Sql => sql`
  teams t join team_repositories g on g.team_id = t.id and g.repo_id = ${repo.id}
  where t.org_id = ${repo.owner_id} ${slugs ? sql`and t.slug = any(${slugs})` : empty} and ${knownTo(sql`${asker.id}`)}`

const notCollaborators = ({ owner_login, name }: Repository) =>
  new Refusal(
    'invalid',
    `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${owner_login}/${name} repository.`,
  )
