import { listPeople } from '#hosting/people/views/people-list.ts'
import { audienceHead, newestFirst, perPage } from '#hosting/repositories/views/audience.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { moment } from '#web/components/time.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, show, submitOwn, type Visit } from '#web/page.ts'
import { pageOfForm } from '#web/return-to.ts'
import { listStargazers, mostStargazers, star, unstar } from './starring.ts'

export const pages: PageRoute[] = [
  show('/:owner/:repo/stargazers', showStargazers),
  submitOwn('/:owner/:repo/star', (visit) => change(visit, star)),
  submitOwn('/:owner/:repo/unstar', (visit) => change(visit, unstar)),
]

async function showStargazers(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const page = pageIn(visit.query)
  const total = Math.min(repo.stargazers_count, mostStargazers)
  const people = await newestFirst(total, page, (slice) => listStargazers(visit.db, repo, slice))
  const list = people.length
    ? await listPeople(visit, people, ({ starred_at }) => html`starred ${moment(starred_at)}`)
    : emptyState('star', 'No stars yet', 'People who star this repository are listed here.')
  return {
    title: `Stargazers · ${repo.owner_login}/${repo.name}`,
    body: html`<main>${audienceHead(repo, 'stargazers')}${list}${pager(`${pathOf(repo)}/stargazers`, {}, page, Math.ceil(total / perPage))}</main>`,
    above: repositoryHeader(repo),
  }
}

async function change(visit: SignedIn, verb: typeof star): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  await verb(visit.db, visit.visitor, repo)
  return { to: pageOfForm(visit.request, pathOf(repo)) }
}
