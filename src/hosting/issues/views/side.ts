import { listParticipants } from '#hosting/issues/participants.ts'
import { mayPush, mayTriage } from '#hosting/issues/rights.ts'
import { progressBar } from '#hosting/milestones/views/progress.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { avatar, person } from '#web/components/avatar.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { issueLabel } from '#web/components/label.ts'
import { select } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { addressOf, type Conversation, count } from './conversation.ts'
import { queryFor } from './list-query.ts'
import { listChoices, picker } from './picker.ts'

/** Labels, assignees and milestone with menus to change them, the participants, the subscription, and the lock. */
export async function conversationSide(visit: Visit, conversation: Conversation): Promise<Html> {
  const { repo, issue, side, subscription } = conversation
  const may = visit.visitor !== null && mayTriage(repo) && !repo.archived
  const [menus, participants] = await Promise.all([
    may ? pickers(visit, conversation) : undefined,
    listParticipants(visit.db, issue, mostParticipants + 1),
  ])
  const only = conversation.kind === 'pull' ? 'pulls' : 'issues'
  const { labels, assignees, milestone } = issue
  const people = assignees.map((one) => html`<li>${person(one)}</li>`)
  const marks = labels.map((label) => issueLabel(label, `${pathOf(repo)}/${only}?${queryFor(only, { label: label.name })}`))
  return html`<aside aria-label="About this">${side}
${section('Assignees', people.length ? html`<ul class="plain">${people}</ul>` : html`<p class="muted">No one</p>`, menus?.assignees)}
${section('Labels', marks.length ? html`<p class="labels">${marks}</p>` : none, menus?.labels)}
${section('Milestone', milestone ? html`<a href="${pathOf(repo)}/milestone/${milestone.number}">${milestone.title}</a>${progressBar(milestone)}` : none, menus?.milestone)}
${subscription}
${section(count(Math.min(participants.length, mostParticipants), 'participant') + (participants.length > mostParticipants ? ' or more' : ''), html`<p class="avatars">${participants.slice(0, mostParticipants).map((one) => html`<a href="/${one.login}" title="${one.login}">${avatar(one, 24)}<span class="unseen">${one.login}</span></a>`)}</p>`)}
${visit.visitor && mayPush(repo) && !repo.archived && lockBox(visit, conversation)}</aside>`
}

const mostParticipants = 20
const none = html`<p class="muted">None yet</p>`

const section = (title: string, body: Html, tool?: Html) =>
  html`<section><div class="side-head"><h2>${title}</h2>${tool}</div>${body}</section>`

async function pickers(visit: Visit, conversation: Conversation) {
  const { repo, issue } = conversation
  const path = addressOf(conversation)
  const { labels, people, milestones } = await listChoices(visit.db, repo, issue)
  return {
    labels: picker(visit, `${path}/labels`, {
      title: 'Labels',
      name: 'label',
      ...labels,
      chosen: issue.labels.map(({ name }) => name),
      footer: html`<a href="${pathOf(repo)}/labels">Edit labels</a>`,
    }),
    assignees: picker(visit, `${path}/assignees`, {
      title: 'Assignees',
      name: 'assignee',
      ...people,
      chosen: issue.assignees.map(({ login }) => login),
    }),
    milestone: picker(visit, `${path}/milestone`, {
      title: 'Milestone',
      name: 'milestone',
      single: true,
      ...milestones,
      chosen: [String(issue.milestone?.number ?? '')],
      footer: html`<a href="${pathOf(repo)}/milestones">Edit milestones</a>`,
    }),
  }
}

const lockReasons: [string, string][] = [
  ['', 'No reason'],
  ['off-topic', 'Off-topic'],
  ['too heated', 'Too heated'],
  ['resolved', 'Resolved'],
  ['spam', 'Spam'],
]

function lockBox(visit: Visit, conversation: Conversation): Html {
  const path = `${addressOf(conversation)}/lock`
  if (conversation.issue.locked) {
    return html`<section>${form(visit, path, button('Unlock conversation', { icon: 'unlock', size: 'small', name: 'lock', value: 'no' }), { class: 'inline', replace: true })}</section>`
  }
  const inputs = html`<p class="muted">Only collaborators can comment and react until you unlock it.</p>${select('Reason', 'reason', lockReasons, '')}${button('Lock conversation', { size: 'small', name: 'lock', value: 'yes' })}`
  return html`<section><details class="lock"><summary class="lock-open">${icon('lock')} Lock conversation</summary>${form(visit, path, inputs, { replace: true })}</details></section>`
}
