import { commitAddress } from '#hosting/contents/views/commit-bar.ts'
import { findAllAuthors } from '#hosting/refs/commits.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, mayPush, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Person } from '#identity/accounts.ts'
import { avatar } from '#web/components/avatar.ts'
import { button } from '#web/components/button.ts'
import { copyButton } from '#web/components/copy.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { badge, stateIcon } from '#web/components/label.ts'
import { menu } from '#web/components/menu.ts'
import { pager } from '#web/components/pager.ts'
import { box } from '#web/components/table.ts'
import { moment } from '#web/components/time.ts'
import { banner } from '#web/components/toast.ts'
import { alert, field, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type Visit } from '#web/page.ts'
import { findDefaultBranch, type ListedBranch, listOtherBranches } from '../branch-list.ts'
import { encodePath } from '../json.ts'

const perPage = 30

/** The branches of a repository. */
export async function branchesPage(visit: Visit, problem?: Problem): Promise<Outcome> {
  const { db, belfry, query, flash } = visit
  const repo = await loadVisibleRepository(visit)
  const words = (query.get('q') ?? '').replaceAll('\0', '').slice(0, 200).trim()
  const page = pageIn(query)
  const slice = { limit: perPage, offset: (page - 1) * perPage }
  const own = await findDefaultBranch(db, belfry.storage, repo)
  const { rows, total } = await listOtherBranches(db, belfry.storage, repo, words, slice, own?.sha)
  const shown = [...(own ? [own] : []), ...rows]
  const authors = await findAuthors(visit, shown)
  const boxOf = (branches: ListedBranch[], label: string) =>
    box(
      branches.map((branch) => branchRow(visit, repo, branch, authors.get(branch.sha))),
      { header: html`<h2 class="box-title">${label}</h2>`, label },
    )
  const path = `${pathOf(repo)}/branches`
  const others = rows.length
    ? boxOf(rows, words ? 'Branches that match' : 'Other branches')
    : words
      ? emptyState('git-branch', 'No branch matches', `No other branch has “${words}” in its name.`)
      : undefined
  const body = html`<main class="branches-page"><div class="title-bar"><h1>Branches</h1>
<form method="get" action="${path}" role="search" class="find-branch"><input type="search" name="q" value="${words}" placeholder="Find a branch" aria-label="Find a branch" maxlength="200" autocomplete="off"></form></div>
${banner(flash.done)}${alert(problem)}${mayPush(visit, repo) && own && newBranch(visit, repo)}
${own ? boxOf([own], 'Default branch') : emptyState('git-branch', 'There are no branches yet', 'The first push creates one.')}${others}
${pager(path, words ? { q: words } : {}, page, Math.ceil(total / perPage))}</main>`
  return {
    title: `Branches · ${repo.owner_login}/${repo.name}`,
    body,
    above: repositoryHeader(repo, 'code'),
    ...(problem && { status: problem.status }),
  }
}

async function findAuthors({ db }: Visit, branches: ListedBranch[]): Promise<Map<string, Person | undefined>> {
  const known = branches.flatMap(({ sha, commit }) => (commit ? [{ sha, author: commit.author }] : []))
  const found = await findAllAuthors(
    db,
    known.map(({ author }) => ({ author, committer: author })),
  )
  return new Map(known.map(({ sha }, index) => [sha, found[index]?.author]))
}

function newBranch(visit: Visit, repo: Repository): Html {
  const inputs = html`${field({ label: 'Name', name: 'name', value: visit.form.get('name'), required: true, longest: 250 })}
${field({ label: 'From', name: 'from', value: visit.form.get('from') ?? repo.default_branch, required: true, longest: 250, hint: 'A branch, a tag or a commit.' })}${button('Create branch', { kind: 'primary' })}`
  return html`<details class="new-branch"${visit.form.has('from') && html` open`}><summary class="button">${icon('git-branch')} New branch</summary>${form(visit, `${pathOf(repo)}/branches`, inputs)}</details>`
}

function branchRow(visit: Visit, repo: Repository, branch: ListedBranch, author: Person | undefined): Html {
  const { name, commit } = branch
  const path = pathOf(repo)
  const isDefault = name === repo.default_branch
  return html`<div class="branch-row"><div class="branch-name"><div class="branch-line"><a class="branch" href="${path}/tree/${encodePath(name)}">${icon('git-branch')} <bdi>${name}</bdi></a>${copyButton(name, `Copy the name ${name}`)}
${isDefault && badge('Default')}${branch.protected && html`<span class="muted" title="Protected">${icon('shield-lock', { label: 'Protected' })}</span>`}</div>
<p class="muted">${commit && html`${author ? html`${avatar(author, 16)} <a href="/${author.login}">${author.login}</a>` : commit.author.name} · <a href="${commitAddress({ repo }, commit.sha)}" title="${commit.title}">${moment(commit.committed_at)}</a>`}</p></div>
<div class="branch-state">${pullLink(path, branch)}</div><div class="branch-apart">${apartText(path, repo, branch)}</div>
<div class="branch-tools">${!isDefault && mayPush(visit, repo) && deleteMenu(visit, repo, name)}</div></div>`
}

function pullLink(path: string, { pull }: ListedBranch): Html | undefined {
  if (!pull) return undefined
  const state = pull.merged ? 'merged' : pull.state === 'open' && pull.draft ? 'draft' : pull.state
  return html`<a href="${path}/pull/${pull.number}" title="${pull.title}">${stateIcon(state, 'pull')} #${pull.number}</a>`
}

/** Compared with the default branch, as a link to the comparison. */
function apartText(path: string, repo: Repository, { name, apart }: ListedBranch): Html | undefined {
  if (!apart || name === repo.default_branch) return undefined
  const { ahead_by, behind_by } = apart
  const address = `${path}/compare/${encodePath(repo.default_branch)}...${encodePath(name)}`
  return html`<a class="muted" href="${address}" title="${behind_by} commits behind ${repo.default_branch}, ${ahead_by} ahead">${icon('arrow-down', { label: 'Behind' })}${behind_by.toLocaleString('en')} ${icon('arrow-up', { label: 'Ahead' })}${ahead_by.toLocaleString('en')}</a>`
}

/** Asks, because commits that no other branch has are lost. */
function deleteMenu(visit: Visit, repo: Repository, name: string): Html {
  const inputs = html`<input type="hidden" name="branch" value="${name}"><p>Commits that no other branch has are lost.</p>${button(html`Delete <bdi>${name}</bdi>`, { kind: 'danger', icon: 'trash' })}`
  return menu(
    html`<span class="button invisible small">${icon('trash')}</span>`,
    [{ markup: form(visit, `${pathOf(repo)}/branches/delete`, inputs, { class: 'delete-branch' }) }],
    { label: `Delete ${name}` },
  )
}
