import type { Issue } from '#hosting/issues/issues.ts'
import type { RepositoryName } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { avatar } from '#web/components/avatar.ts'
import { icon } from '#web/components/icon.ts'
import { issueLabel, type SubjectState, stateIcon } from '#web/components/label.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

export function subjectState({
  state,
  state_reason,
  draft,
  merged_at,
}: Pick<Issue, 'state' | 'state_reason' | 'draft' | 'merged_at'>): SubjectState {
  if (merged_at) return 'merged'
  if (state === 'closed') return state_reason === 'not_planned' || state_reason === 'duplicate' ? 'not_planned' : 'closed'
  return draft ? 'draft' : 'open'
}

/** A row of a list of issues or pull requests. `named`: with the name of the repository, in lists of several. */
export function issueRow(issue: Issue, repo: Pick<RepositoryName, 'owner_login' | 'name'>, { named = false } = {}): Html {
  const { number, title, author, labels, assignees, comments_count, milestone } = issue
  const path = pathOf(repo)
  const kind = issue.pull_id === null ? 'issue' : 'pull'
  const href = `${path}/${kind === 'issue' ? 'issues' : 'pull'}/${number}`
  const whole = html`${named && html`<a class="issue-repository" href="${path}">${path.slice(1)}</a> `}<a class="issue-title" href="${href}"><bdi>${title}</bdi></a> ${labels.map((label) => html`${issueLabel(label)} `)}`
  const when =
    issue.state === 'closed' && issue.closed_at
      ? html`was ${issue.merged_at ? 'merged' : 'closed'} ${moment(issue.closed_at)}`
      : html`opened ${moment(issue.created_at)}`
  const people = assignees
    .slice(0, 3)
    .map(
      (person) =>
        html`<a href="/${person.login}" title="Assigned to ${person.login}" aria-label="Assigned to ${person.login}">${avatar(person, 20)}</a>`,
    )
  return html`<div class="issue-row">${stateIcon(subjectState(issue), kind)}<div class="issue-text"><p>${whole}</p>
<p class="muted issue-facts">#${number} ${when} by ${author ? html`<a href="/${author.login}">${author.login}</a>` : 'a deleted user'}${milestone && html` · <a href="${path}/milestone/${milestone.number}">${icon('milestone')} ${milestone.title}</a>`}</p></div>
<span class="issue-side">${people}${comments_count > 0 && html`<a class="muted" href="${href}" aria-label="${comments_count} comments">${icon('comment')} ${comments_count}</a>`}</span></div>`
}
