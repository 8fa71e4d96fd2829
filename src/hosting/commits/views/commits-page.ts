import { listCommits } from '#hosting/commits/list-commits.ts'
import { encodePath } from '#hosting/refs/json.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'
import { commitHistory } from './history.ts'

const perPage = 35

/** The commits of a branch, a tag or a commit, newest first. */
export async function commitsPage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const ref = visit.params['*'] || repo.default_branch
  if (ref.includes('\0')) throw missing()
  const page = pageIn(visit.query)
  const query = { sha: ref, path: '', author: '', committer: '', since: '', until: '' }
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const { rows, total } = await listCommits(visit.db, visit.belfry.storage, repo, query, slice)
  const path = `${pathOf(repo)}/commits/${encodePath(ref)}`
  const list = rows.length ? await commitHistory(visit.db, repo, rows, { graph: true }) : emptyState('history', 'No commits')
  const body = html`<main><div class="title-bar"><h1>Commits</h1></div>
${list}${pager(path, {}, page, Math.ceil(total / perPage))}</main>`
  return {
    title: `Commits · ${ref} · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'code'),
    feed: `${path}.atom`,
  }
}
