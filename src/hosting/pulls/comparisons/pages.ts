import { compare, findBoth } from '#git/compare.ts'
import { openComparison } from '#git/diff-text.ts'
import { listPulls } from '#hosting/pulls/lists.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import { listRefNames } from '#hosting/refs/recorded-refs.ts'
import { listNetwork } from '#hosting/repositories/forks.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { missing, Refusal } from '#platform/errors.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { attempt, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { type Outcome, type PageRoute, plainText, type SignedIn, show, submitOwn, type Visit } from '#web/page.ts'
import { findEnds } from './ends.ts'
import { openPull } from './open-pull.ts'
import { compareView } from './views/compare-page.ts'
import { type Choices, compareAddress, mostInMenu, type Range, rangeBar } from './views/range-bar.ts'

export const pages: PageRoute[] = [
  show('/:owner/:repo/compare', async (visit) => {
    const repo = await loadVisibleRepository(visit)
    return { to: compareAddress({ repo }, repo.default_branch, repo.default_branch) }
  }),
  show('/:owner/:repo/compare/*', (visit) => comparePage(visit)),
  submitOwn('/:owner/:repo/compare/*', open),
]

/** `base...head` as a page, and with the suffix `.diff` or `.patch` as a text. A single name is compared with the default branch. */
async function comparePage(visit: Visit, problem?: Problem): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const asked = visit.params['*'] ?? ''
  if (asked.includes('\0')) throw missing()
  const { storage } = visit.belfry
  if (asked && !asked.includes('...')) return { to: compareAddress({ repo }, repo.default_branch, asked) }
  const [, named = asked, medium] = /^(.*)\.(diff|patch)$/s.exec(asked) ?? []
  const { base, head } = await findEnds(visit.db, viewerOf(visit), repo, named)
  if (medium) {
    const [from, to] = await findBoth(storage, base.repo.id, base.name, head.name, head.repo.id)
    return plainText(await openComparison(storage, base.repo.id, medium as 'diff' | 'patch', from, to, head.repo.id))
  }
  const range = { repo, base, head }
  const body = html`<main class="comparison"><h1>Compare changes</h1>${rangeBar(range, await readChoices(visit, range))}${await compared(visit, range, problem)}</main>`
  return {
    title: `${base.text} … ${head.text} · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'code'),
    ...(problem && { status: problem.status }),
  }
}

/** How many repositories of the network a menu offers. */
const mostRepositories = 30

async function readChoices(visit: Visit, { repo, base, head }: Range): Promise<Choices> {
  const { db } = visit
  const { rows } = await listNetwork(db, viewerOf(visit), repo, { limit: mostRepositories, offset: 0 })
  const ids = new Set(rows.map(({ id }) => id))
  const named: Repository[] = [repo, base.repo, head.repo].filter(({ id }) => !ids.has(id) && ids.add(id))
  const base_refs = await listRefNames(db, base.repo, mostInMenu)
  const head_refs = head.repo.id === base.repo.id ? base_refs : await listRefNames(db, head.repo, mostInMenu)
  return { network: [...named, ...rows], base_refs, head_refs }
}

async function compared(visit: Visit, range: Range, problem?: Problem): Promise<Html> {
  const { base, head } = range
  try {
    const comparison = await compare(visit.belfry.storage, base.repo.id, base.name, head.name, head.repo.id)
    return await compareView(visit, range, comparison, await findPull(visit, range), problem)
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== 'conflict') throw error
    return emptyState(
      'git-compare',
      'There is nothing to compare yet',
      'This repository is empty. The first push brings commits.',
    )
  }
}

/** The open pull request of these branches. */
async function findPull(visit: Visit, { base, head }: Range): Promise<Pull | undefined> {
  const of = { head: `${head.repo.owner_login}:${head.name}`, base: base.name }
  const filter = { state: 'open', sort: 'created', direction: '', ...of } as const
  const { rows } = await listPulls(visit.db, viewerOf(visit), base.repo, filter, { limit: 1, offset: 0 })
  return rows[0]
}

/** Opens the pull request of a comparison. */
async function open(visit: SignedIn): Promise<Outcome> {
  if (visit.form.has('preview')) return comparePage(visit)
  const repo = await loadVisibleRepository(visit)
  const asked = visit.params['*'] ?? ''
  if (asked.includes('\0')) throw missing()
  const ends = await findEnds(visit.db, viewerOf(visit), repo, asked)
  return attempt(
    () => openPull(visit, ends),
    (problem) => comparePage(visit, problem),
  )
}
