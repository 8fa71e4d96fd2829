import { listRepositories, type Repository, type RepositoryName } from '#hosting/repositories/repositories.ts'
import { hasAccessByName } from '#hosting/repositories/visibility.ts'
import { type FoundIssue, searchIssues } from '#hosting/search/issues.ts'
import type { Account, Viewer } from '#identity/accounts.ts'
import { listThreads, type Thread } from '#parts/notifications/threads.ts'
import { type Database, empty, sql } from '#platform/database.ts'
import type { Listed } from '#platform/listed.ts'

/** What stands beside the timeline of a signed-in visitor. */
export interface Overview {
  repositories: Listed<Repository>
  unread: Listed<Thread>
  pulls: Listed<FoundIssue>
  reviews: Listed<FoundIssue>
}

const most = { repositories: 20, unread: 5, pulls: 5 }

/** `find`: a part of the name of a repository. */
export async function readOverview(db: Database, visitor: Account, find: string): Promise<Overview> {
  const viewer = { viewer_id: visitor.id, sees_private: true, login: visitor.login }
  const search = (q: string) => searchIssues(db, viewer, q, { sort: 'updated', order: 'desc' }, { limit: most.pulls, offset: 0 })
  const [repositories, unread, pulls, reviews] = await Promise.all([
    listOwn(db, viewer, find),
    listThreads(db, visitor, { view: 'unread' }, { limit: most.unread, offset: 0 }),
    search('is:pr is:open author:@me archived:false'),
    search('is:pr is:open review-requested:@me archived:false'),
  ])
  return { repositories, unread, pulls, reviews }
}

/** The repositories that the visitor has access to by name, the last pushed to first. */
function listOwn(db: Database, viewer: Viewer, find: string): Promise<Listed<Repository>> {
  const named = find
    ? sql`and position(lower(${find}) in lower((select o.login from accounts o where o.id = r.owner_id) || '/' || r.name)) > 0`
    : empty
  const order = sql`r.pushed_at desc nulls last, r.id desc`
  const condition = sql`${hasAccessByName(viewer)} ${named}`
  return listRepositories(db, viewer, condition, order, { limit: most.repositories, offset: 0 })
}

export const nameOf = ({ owner_login, name }: Pick<RepositoryName, 'owner_login' | 'name'>) => `${owner_login}/${name}`
