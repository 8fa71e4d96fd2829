import { listAssignable } from '#hosting/issues/assignees.ts'
import { mayTriage } from '#hosting/issues/rights.ts'
import { picker } from '#hosting/issues/views/picker.ts'
import type { Pull } from '#hosting/pulls/pulls.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { listTeamReviewers } from '#hosting/reviews/requests/requests.ts'
import type { Review } from '#hosting/reviews/reviews.ts'
import type { Person } from '#identity/accounts.ts'
import { avatar, person } from '#web/components/avatar.ts'
import { icon } from '#web/components/icon.ts'
import { type Html, html } from '#web/html.ts'
import type { Visit } from '#web/page.ts'

/** Where a reviewer stands now. */
export interface ReviewerState {
  reviewer: Person
  state: 'APPROVED' | 'CHANGES_REQUESTED' | 'COMMENTED' | 'REQUESTED'
  review_id?: number
}

/** The last verdict of each reviewer; a comment does not replace a verdict, a new request does. */
export function reviewerStates(pull: Pull, reviews: Review[]): ReviewerState[] {
  const states = new Map<number, ReviewerState>()
  for (const { id, author, state } of reviews) {
    if (!author || author.id === pull.author?.id || state === 'PENDING') continue
    if (state === 'DISMISSED') states.delete(author.id)
    else if (state !== 'COMMENTED' || !states.has(author.id)) states.set(author.id, { reviewer: author, state, review_id: id })
  }
  for (const reviewer of pull.requested_reviewers) states.set(reviewer.id, { reviewer, state: 'REQUESTED' })
  return [...states.values()]
}

const signs = {
  APPROVED: ['check', 'success', 'approved these changes'],
  CHANGES_REQUESTED: ['file-diff', 'danger', 'requested changes'],
  COMMENTED: ['comment', 'muted', 'commented'],
  REQUESTED: ['dot-fill', 'attention', 'was asked for a review'],
} as const

/** Reviewers with their verdicts, and a menu to request reviews. */
export async function reviewersSection(
  visit: Visit,
  { repo, pull, path, states }: { repo: Repository; pull: Pull; path: string; states: ReviewerState[] },
): Promise<Html> {
  const may = mayTriage(repo) && !repo.archived
  const rows = [
    ...states.map(({ reviewer, state, review_id }) => {
      const [name, tone, text] = signs[state]
      const sign = html`<span class="check-sign ${tone}">${icon(name, { label: `${reviewer.login} ${text}` })}</span>`
      return html`<li>${person(reviewer)}<span class="space"></span>${review_id === undefined ? sign : html`<a href="${path}#pullrequestreview-${review_id}">${sign}</a>`}</li>`
    }),
    ...pull.requested_teams.map(
      ({ org_login, slug }) =>
        html`<li><a href="/orgs/${org_login}/teams/${slug}">${icon('people')} ${org_login}/${slug}</a><span class="space"></span><span class="check-sign attention">${icon('dot-fill', { label: 'was asked for a review' })}</span></li>`,
    ),
  ]
  const tool = may && visit.visitor && (await requestMenu(visit, visit.visitor, { repo, pull, path }))
  const list = rows.length ? html`<ul class="plain reviewers">${rows}</ul>` : html`<p class="muted">No reviews</p>`
  return html`<section><div class="side-head"><h2>Reviewers</h2>${tool}</div>${list}</section>`
}

const most = 100

/** A team is named `owner/slug`, which no login can be. */
async function requestMenu(
  visit: Visit,
  asker: { id: number },
  { repo, pull, path }: { repo: Repository; pull: Pull; path: string },
): Promise<Html> {
  const { rows, total } = await listAssignable(visit.db, repo, { limit: most, offset: 0 })
  const teams = await listTeamReviewers(visit.db, repo, asker, most + 1)
  const asked = pull.requested_reviewers
  const asked_teams = pull.requested_teams
  const other_teams = teams.slice(0, most).filter(({ id }) => !asked_teams.some((one) => one.id === id))
  const teamName = ({ slug }: { slug: string }) => `${repo.owner_login}/${slug}`
  const others = rows.filter(({ id }) => id !== pull.author?.id && !asked.some((one) => one.id === id))
  return picker(visit, `${path}/reviewers`, {
    title: 'Reviewers',
    name: 'reviewer',
    choices: [
      ...[...asked, ...others].map((one) => ({ value: one.login, shown: html`${avatar(one, 20)} <span>${one.login}</span>` })),
      ...[...asked_teams, ...other_teams].map(teamName).map((name) => ({
        value: name,
        shown: html`${icon('people')} <span>${name}</span>`,
      })),
    ],
    chosen: [...asked.map(({ login }) => login), ...asked_teams.map(teamName)],
    more: total > most || teams.length > most,
  })
}
