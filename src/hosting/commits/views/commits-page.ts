import { listCommits } from '#hosting/commits/list-commits.ts'
import { commitList } from '#hosting/pulls/views/diff.ts'
import { encodePath } from '#hosting/refs/json.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { pager } from '#web/components/pager.ts'
import { html } from '#web/html.ts'
import type { Outcome, Visit } from '#web/page.ts'

const perPage = 30

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
  const body = html`<main class="conversation"><h1>Commits</h1><p class="muted">In <code>${ref}</code></p>
${commitList({ commits: rows, total_commits: rows.length }, pathOf(repo))}${pager(path, {}, page, Math.ceil(total / perPage))}</main>`
  return { title: `Commits · ${ref} · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'code') }
}
