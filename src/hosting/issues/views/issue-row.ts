import type { Issue } from '#hosting/issues/issues.ts'
import { type ListKind, queryFor } from '#hosting/issues/views/list-query.ts'
import type { RepositoryName } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { avatar } from '#web/components/avatar.ts'
import { shortCount } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { issueLabel } from '#web/components/label.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'
import { count, nameOf, stateSign } from './conversation.ts'

interface RowOptions {
  /** With the name of the repository, in lists of several. */
  named?: boolean
  /** Before the row, as a box to check. */
  lead?: Html | undefined
  /** More about it, in the line below the title. */
  more?: Html | undefined
}

/** A row of a list of issues or pull requests. */
export function issueRow(issue: Issue, repo: Pick<RepositoryName, 'owner_login' | 'name'>, options: RowOptions = {}): Html {
  const { lead, more, named = false } = options
  const { number, title, assignees, comments_count, milestone } = issue
  const path = pathOf(repo)
  const list: ListKind = issue.pull_id === null ? 'issues' : 'pulls'
  const href = `${path}/${issue.pull_id === null ? 'issues' : 'pull'}/${number}`
  const labels = issue.labels.map(
    (label) => html`${issueLabel(label, `${path}/${list}?${queryFor(list, { label: label.name })}`)} `,
  )
  const whole = html`${named && html`<a class="issue-repository" href="${path}">${path.slice(1)}</a> `}<a class="issue-title" href="${href}"><bdi>${title}</bdi></a> ${labels}`
  const people = assignees
    .slice(0, 3)
    .map(
      (person) =>
        html`<a href="/${person.login}" title="Assigned to ${person.login}" aria-label="Assigned to ${person.login}">${avatar(person, 20)}</a>`,
    )
  return html`<div class="issue-row">${lead}${stateSign(issue)}<div class="issue-text"><p>${whole}</p>
<p class="muted issue-facts">#${number} ${happened(issue)}${tasksOf(issue)}${milestone && html` · <a href="${path}/milestone/${milestone.number}">${icon('milestone')} ${milestone.title}</a>`}${more}</p></div>
<span class="issue-side">${people}${comments_count > 0 && html`<a class="muted" href="${href}" aria-label="${count(comments_count, 'comment')}">${icon('comment')} ${shortCount(comments_count)}</a>`}</span></div>`
}

function happened({ author, state, created_at, closed_at, merged_at }: Issue): Html {
  if (state === 'open' || !closed_at) return html`opened ${moment(created_at)} by ${nameOf(author)}`
  return html`by ${nameOf(author)} was ${merged_at ? 'merged' : 'closed'} ${moment(closed_at)}`
}

/** How many tasks of the text are done. */
function tasksOf({ body }: Issue): Html | undefined {
  const tasks = body?.match(/^ {0,12}(?:[-*+]|\d{1,9}[.)]) \[[ x]\] /gim) ?? []
  if (!tasks.length) return undefined
  const done = tasks.filter((task) => !task.includes('[ ]')).length
  return html` · ${icon('checklist')} ${done} of ${count(tasks.length, 'task')}`
}
