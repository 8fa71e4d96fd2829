import { countApart, readingOf } from '#git/compare.ts'
import { encodePath } from '#hosting/refs/json.ts'
import { findRecordedRefs } from '#hosting/refs/recorded-refs.ts'
import { loadRepositoryById, type Repository } from '#hosting/repositories/repositories.ts'
import { mayPush, pathOf, viewerOf } from '#hosting/repositories/views/repository-page.ts'
import { Refusal } from '#platform/errors.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import type { CodeLocation } from '../code-location.ts'
import { CommitCache, ifSoon } from '../commit-cache.ts'

interface Apart {
  ahead_by: number
  behind_by: number
}

const comparisons = new CommitCache<Apart>(1 << 20, () => 100)
/** Milliseconds for a comparison, and that the page waits for it. */
const [comparePatience, pagePatience] = [10_000, 500]

/** Above the files of a fork: where it comes from, and what its branch and the one upstream have that the other has not. */
export async function forkBar(visit: Visit, location: CodeLocation): Promise<Html | undefined> {
  const parent = await findParent(visit, location.repo)
  if (!parent) return undefined
  const from = html`<span>${icon('repo-forked')} Forked from <a href="${pathOf(parent)}">${parent.owner_login}/${parent.name}</a></span>`
  const apart = location.is_branch ? await compareUpstream(visit, location, parent) : undefined
  return html`<div class="fork-bar">${from}${apart && distance(visit, location, parent, apart)}</div>`
}

/** A parent that the visitor may not see is not named. */
async function findParent(visit: Visit, { parent_id }: Repository): Promise<Repository | undefined> {
  if (parent_id === null) return undefined
  return loadRepositoryById(visit.db, viewerOf(visit), parent_id).catch((error) => {
    if (error instanceof Refusal) return undefined
    throw error
  })
}

/** Undefined if there is no branch of this name upstream, or if git takes too long. */
async function compareUpstream({ db, belfry }: Visit, { repo, ref, sha }: CodeLocation, parent: Repository) {
  const name = `refs/heads/${ref}`
  const upstream = (await findRecordedRefs(db, parent, [name])).get(name)
  if (upstream === undefined) return undefined
  const compare = () => {
    const reading = readingOf(belfry.storage, repo.id, parent.id, AbortSignal.timeout(comparePatience))
    return countApart(reading, upstream, sha)
  }
  return ifSoon(comparisons.get(`${repo.id} ${upstream} ${sha}`, compare), pagePatience)
}

const commits = (count: number) => `${count.toLocaleString('en')} ${count === 1 ? 'commit' : 'commits'}`

function distance(visit: Visit, { repo, ref }: CodeLocation, parent: Repository, { ahead_by, behind_by }: Apart): Html {
  const there = html`<code>${parent.owner_login}:${ref}</code>`
  const sentence =
    ahead_by && behind_by
      ? html`This branch is ${commits(ahead_by)} ahead of and ${commits(behind_by)} behind ${there}.`
      : ahead_by
        ? html`This branch is ${commits(ahead_by)} ahead of ${there}.`
        : behind_by
          ? html`This branch is ${commits(behind_by)} behind ${there}.`
          : html`This branch is up to date with ${there}.`
  const compared = `${pathOf(parent)}/compare/${encodePath(ref)}...${encodeURIComponent(repo.owner_login)}:${encodePath(ref)}`
  const contribute = ahead_by > 0 && buttonLink('Contribute', compared, { icon: 'git-pull-request', size: 'small' })
  const sync =
    behind_by > 0 &&
    mayPush(visit, repo) &&
    form(
      visit,
      `${pathOf(repo)}/merge-upstream`,
      html`<input type="hidden" name="branch" value="${ref}">${button('Sync fork', { icon: 'sync', size: 'small' })}`,
      { class: 'inline' },
    )
  return html`<span>${sentence}</span><span class="space"></span><span class="buttons">${contribute}${sync}</span>`
}
