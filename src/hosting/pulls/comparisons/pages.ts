import { compare, findBoth } from '#git/compare.ts'
import { openComparison } from '#git/diff-text.ts'
import { commitList, diffView } from '#hosting/pulls/views/diff.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { missing } from '#platform/errors.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, plainText, show, type Visit } from '#web/page.ts'
import { findEnds } from './ends.ts'

export const pages: PageRoute[] = [show('/:owner/:repo/compare/*', comparePage)]

/** `base...head` as a page, and with the suffix `.diff` or `.patch` as a text. */
async function comparePage(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const asked = visit.params['*'] ?? ''
  if (asked.includes('\0')) throw missing()
  const { storage } = visit.belfry
  const [, named = asked, medium] = /^(.*)\.(diff|patch)$/s.exec(asked) ?? []
  const { base, head } = await findEnds(visit.db, viewerOf(visit), repo, named)
  if (medium) {
    const [from, to] = await findBoth(storage, base.repo.id, base.name, head.name, head.repo.id)
    return plainText(await openComparison(storage, base.repo.id, medium as 'diff' | 'patch', from, to, head.repo.id))
  }
  const comparison = await compare(storage, base.repo.id, base.name, head.name, head.repo.id)
  const title = `${base.text} … ${head.text}`
  const body = html`<main class="conversation"><h1>${title}</h1>
<p class="muted">${comparison.ahead_by} ahead, ${comparison.behind_by} behind · <a href="${`${pathOf(repo)}/compare/${named}.diff`}">diff</a>
· <a href="${`${pathOf(repo)}/compare/${named}.patch`}">patch</a></p>
${commitList(comparison, pathOf(head.repo))}${diffView(visit, comparison, { base: { repository: pathOf(base.repo), sha: comparison.base }, head: { repository: pathOf(head.repo), sha: comparison.head } })}</main>`
  return { title: `${title} · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo, 'code') }
}
