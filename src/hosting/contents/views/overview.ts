import { summarizeChecks } from '#hosting/checks/summaries.ts'
import { countCommits } from '#hosting/commits/list-commits.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import { listRefNames, mostCounted, type RefNames } from '#hosting/refs/recorded-refs.ts'
import { listReleases } from '#hosting/releases/releases.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { mayPush, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { countLanguagesOf, listContributorsOf } from '#hosting/statistics/statistics.ts'
import { missing } from '#platform/errors.ts'
import { buttonLink, shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { banner } from '#web/components/toast.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'
import { type CodeLocation, codeAddress, findDefaultLocation } from '../code-location.ts'
import { ifSoon } from '../commit-cache.ts'
import { findLastCommits, findReadme, readCode } from '../read-code.ts'
import { aboutRepository } from './about.ts'
import { cloneMenu } from './clone-menu.ts'
import { commitBar } from './commit-bar.ts'
import { emptyRepository } from './empty-repository.ts'
import { fileTable } from './file-table.ts'
import { forkBar } from './fork-bar.ts'
import { readmeBox } from './readme.ts'
import { mostInMenu, refMenu } from './ref-menu.ts'

/** Milliseconds that a page waits for facts that it can do without. */
export const patience = 700

/** The start page of a repository. `hint` is about an import into it. */
export async function overview(visit: Visit, repo: Repository, hint: Html | undefined): Promise<Html> {
  const refs = await listRefNames(visit.db, repo, mostInMenu)
  const location = await findDefaultLocation(visit.db, visit.belfry.storage, repo, refs.branches)
  const title = html`<h1 class="unseen">${repo.owner_login}/${repo.name}</h1>`
  if (!location)
    return html`<main class="code-page">${title}${banner(visit.flash.done)}${emptyRepository(visit, repo, hint)}</main>`
  return html`<main class="code-page">${title}${hint}${await rootPage(visit, location, refs)}</main>`
}

/** The root folder of a branch, a tag or a commit, with what is known about the repository. */
export async function rootPage(visit: Visit, location: CodeLocation, refs: RefNames): Promise<Html> {
  const { db, belfry } = visit
  const { repo, sha } = location
  const { storage } = belfry
  const content = await readCode(storage, location)
  if (content.kind !== 'dir') throw missing()
  const [last, commits, readme, languages, contributors, releases] = await Promise.all([
    ifSoon(findLastCommits(storage, location, content.entries), patience),
    ifSoon(countCommits(storage, repo, sha), patience),
    findReadme(storage, location),
    ifSoon(countLanguagesOf(storage, repo, sha), patience),
    ifSoon(listContributorsOf(db, storage, repo, sha, false), patience),
    listReleases(db, repo, false, { limit: 1, offset: 0 }),
  ])
  const author = last?.latest && (await authorOf(visit, last.latest))
  const shown = await readmeBox(location, readme)
  const checks = last?.latest && (await summarizeChecks(db, repo, [last.latest.sha])).get(last.latest.sha)
  const fork = await forkBar(visit, location)
  const facts = { readme: shown !== undefined, entries: content.entries, releases, languages, contributors }
  return html`${banner(visit.flash.done)}<div class="with-side"><div>${codeBar(visit, location, refs)}${fork}
${fileTable(location, content.entries, last, commitBar(location, last?.latest, author, commits, checks))}${shown}</div>
<aside aria-label="About the repository">${aboutRepository(location, facts)}</aside></div>`
}

/** The account of a commit's author. */
export async function authorOf({ db }: Visit, { author }: { author: { email: string } }) {
  const [found] = await findAllAuthors(db, [{ author, committer: author }])
  return found?.author
}

/** For those who may push, on a branch. */
export const addFile = (visit: Visit, location: CodeLocation): Html | undefined =>
  mayPush(visit, location.repo) && location.is_branch
    ? buttonLink('Add file', codeAddress('new', location, location.path), { icon: 'plus' })
    : undefined

function codeBar(visit: Visit, location: CodeLocation, refs: RefNames): Html {
  const { repo } = location
  const count = (kind: 'branches' | 'tags', name: string, one: string) => {
    const number = refs[`${kind}_count`]
    const text = number >= mostCounted ? `${shortCount(number)}+` : shortCount(number)
    return html`<a class="ref-count" href="${pathOf(repo)}/${kind}">${icon(name)} <strong>${text}</strong> <span>${number === 1 ? one : kind}</span></a>`
  }
  return html`<div class="code-bar" data-page-keys="${JSON.stringify([['t', 'Find a file']])}">${refMenu(location, 'tree', refs)}${count('branches', 'git-branch', 'branch')}${count('tags', 'tag', 'tag')}
<span class="space"></span>${addFile(visit, location)}${buttonLink(html`Go to file <kbd aria-hidden="true">t</kbd>`, codeAddress('find', location), { icon: 'search' })}${cloneMenu(visit, location)}</div>`
}
