import type { FastifyInstance } from 'fastify'
import type { Belfry } from '#belfry.ts'
import { loadRepository, type Repository } from '#hosting/repositories/repositories.ts'
import { numberIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { type Queryable, sql } from '#platform/database.ts'
import { missing } from '#platform/errors.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { betweenLooks, mountPageStream } from '#web/page-stream.ts'

/**
 * Changes when something changes that everyone who sees the page of an issue or a pull request sees: not pending reviews, nor references from
 * repositories that may be hidden. Undefined if there is no such issue.
 */
async function findVersion(db: Queryable, repo: Pick<Repository, 'id'>, number: number): Promise<string | undefined> {
  const found = await db.first<{ version: string }>(sql`
    select md5(concat_ws(' ', i.xmin, p.xmin,
      (select max(e.id) from issue_events e where e.issue_id = i.id and e.event not in ('mentioned', 'subscribed')),
      (select concat(count(*), '/', max(c.updated_at)) from comments c where c.issue_id = i.id),
      (select concat(count(*), '/', max(v.updated_at)) from reviews v where v.pull_id = p.id and v.state <> 'PENDING'),
      (select concat(count(*), '/', max(c.updated_at)) from review_comments c left join reviews v on v.id = c.review_id
        where c.pull_id = p.id and v.state is distinct from 'PENDING'),
      (select concat(count(*), '/', max(t.resolved_at)) from resolved_threads t where t.pull_id = p.id),
      (select concat(count(*), '/', max(r.id)) from reactions r where r.issue_id = i.id),
      (select concat(count(*), '/', max(r.id)) from comments c join reactions r on r.comment_id = c.id where c.issue_id = i.id),
      (select concat(count(*), '/', max(r.id)) from review_comments c join reactions r on r.review_comment_id = c.id
        where c.pull_id = p.id),
      (select max(s.id) from commit_statuses s where s.repo_id = p.repo_id and s.sha = p.head_sha),
      (select string_agg(concat(r.id, r.status, r.conclusion), ' ' order by r.id) from check_runs r
        where r.repo_id = p.repo_id and r.head_sha = p.head_sha and r.latest))) as version
    from issues i left join pulls p on p.issue_id = i.id where i.repo_id = ${repo.id} and i.number = ${number}`)
  return found?.version
}

/** For live.js: the page loads itself again when the stream names another version. Read this before what the page shows. */
export async function liveAttributes(
  { db, visitor, request }: Visit,
  repo: Repository,
  number: number,
): Promise<Html | undefined> {
  // A form that was refused is shown by a POST; to load it again would lose what was typed.
  if (!visitor || request.method !== 'GET') return undefined
  const version = await findVersion(db, repo, number)
  return html` data-stream="${pathOf(repo)}/issues/${number}/stream" data-live="${version}"`
}

/** Notifies the pages of an issue or a pull request of changes. Nothing is read until something in the repository changes. */
export function mountConversationStream(listener: FastifyInstance, belfry: Belfry) {
  const { db } = belfry
  mountPageStream(
    listener,
    belfry,
    '/:owner/:repo/issues/:number/stream',
    async ({ id }, params, from) => {
      const { owner = '', repo: name = '' } = params
      if (/\0/.test(owner + name)) throw missing()
      const repo = await loadRepository(db, { viewer_id: id, sees_private: true }, owner, name)
      const version = await findVersion(db, repo, numberIn(params.number))
      if (version === undefined) throw missing()
      return {
        news: version === from ? [] : [{ id: version, data: { version } }],
        bookmark: version,
        topics: ['w', `a${id}`, `r${repo.id}`, `c${repo.id}`],
      }
    },
    betweenLooks,
  )
}
