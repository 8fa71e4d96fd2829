import type { Comparison } from '#git/compare.ts'
import { mostCommits } from '#git/compare.ts'
import { commitHistory } from '#hosting/commits/views/history.ts'
import { mayPush } from '#hosting/issues/rights.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import { counts, diffView } from '#hosting/pulls/views/diff.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { buttonLink } from '#web/components/button.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { icon } from '#web/components/icon.ts'
import { stateIcon } from '#web/components/label.ts'
import { banner } from '#web/components/toast.ts'
import { alert, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import type { SignedIn, Visit } from '#web/page.ts'
import { openForm } from './open-form.ts'
import { compareAddress, type Range } from './range-bar.ts'

const several = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** What head has that base does not: commits and files. */
export async function compareView(
  visit: Visit,
  range: Range,
  comparison: Comparison,
  pull: Pull | undefined,
  problem?: Problem,
): Promise<Html> {
  const { base, head } = range
  const { commits, total_commits, changed_files, merge_base } = comparison
  if (!total_commits) return nothingNew(range, comparison)
  const files = await diffView(visit, comparison, {
    base: { repository: pathOf(base.repo), sha: merge_base ?? comparison.base },
    head: { repository: pathOf(head.repo), sha: comparison.head },
  })
  const address = compareAddress(range, base.text, head.text)
  const people = new Set(commits.map(({ author }) => author.email)).size
  const earlier = total_commits - commits.length
  return html`${await proposal(visit, range, comparison, pull, problem)}${merge_base === null && html`<p class="muted">${icon('alert')} These histories have no commit in common, so whole trees are compared.</p>`}
<div class="range-facts"><span>${icon('git-commit')} <strong>${several(total_commits, 'commit')}</strong></span><span>${icon('file-diff')} <strong>${several(changed_files, 'file')}</strong> ${counts(comparison)}</span><span>${icon('people')} <strong>${several(people, 'author')}</strong></span>${comparison.behind_by > 0 && html`<span class="muted">${several(comparison.behind_by, 'commit')} behind</span>`}<span class="space"></span><span class="muted"><a href="${address}.diff">diff</a> · <a href="${address}.patch">patch</a></span></div>
${earlier > 0 && html`<p class="muted">The newest ${mostCommits} commits are listed; ${earlier} earlier ones are not.</p>`}${await commitHistory(visit.db, head.repo, commits)}${files}`
}

function nothingNew(range: Range, { status }: Comparison): Html {
  const { base, head } = range
  const text =
    status === 'identical' && base.text === head.text
      ? 'Choose two different branches above.'
      : status === 'identical'
        ? html`<code>${base.text}</code> and <code>${head.text}</code> are the same commit.`
        : html`<code>${base.text}</code> has all commits of <code>${head.text}</code>. <a href="${compareAddress(range, head.text, base.text)}">Swap both sides</a> to see what is new.`
  return emptyState('git-compare', 'There is nothing to compare', text)
}

/** The form of a pull request, the way to it, or the open one of these branches. */
async function proposal(
  visit: Visit,
  range: Range,
  comparison: Comparison,
  pull: Pull | undefined,
  problem?: Problem,
): Promise<Html | undefined> {
  const { base, head } = range
  if (pull) {
    return html`${alert(problem)}<div class="range-proposal"><span>${stateIcon(pull.draft ? 'draft' : 'open', 'pull')} <a href="${pathOf(base.repo)}/pull/${pull.number}"><strong>${pull.title}</strong></a> <span class="muted">#${pull.number}</span></span><span class="space"></span>${buttonLink('View pull request', `${pathOf(base.repo)}/pull/${pull.number}`)}</div>`
  }
  if (base.repo.archived) return undefined
  const path = compareAddress(range, base.text, head.text)
  if (isSignedIn(visit) && (visit.request.method === 'POST' || visit.query.has('expand') || visit.query.has('quick_pull'))) {
    if (!mayPush(base.repo) && !mayPush(head.repo))
      return banner('You need push access to one of the two repositories.', 'attention')
    return openForm(visit, { repo: base.repo, head, comparison, path }, problem)
  }
  const address = `${path}?expand=1`
  const target = visit.visitor ? address : `/login?return_to=${encodeURIComponent(address)}`
  return html`<div class="range-proposal"><span>Discuss and review these changes with others.</span><span class="space"></span>${buttonLink('Create pull request', target, { kind: 'primary', icon: 'git-pull-request' })}</div>`
}

const isSignedIn = (visit: Visit): visit is SignedIn => visit.visitor !== null
