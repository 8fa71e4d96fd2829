import { mayEdit } from '#hosting/issues/rights.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { moment } from '#web/components/time.ts'
import { alert, field } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { addressOf, type Conversation, count, nameOf, nounOf, stateMark, type Typed } from './conversation.ts'

/** The title, the state, and who opened it: the top of every page of an issue or pull request. */
export function conversationHead(visit: Visit, conversation: Conversation, typed?: Typed): Html {
  const { repo, issue, summary, tabs } = conversation
  const path = addressOf(conversation)
  const may = mayEdit(repo, visit.visitor, issue.author)
  const edits = may && (typed?.form === 'title' || visit.query.get('edit') === 'title')
  const title = html`<h1><bdi>${issue.title}</bdi> <span class="muted">#${issue.number}</span></h1>`
  const tools = html`<div class="buttons">${may && buttonLink('Edit', `${path}?edit=title`, { size: 'small', label: 'Edit the title' })}${visit.visitor && !repo.archived && conversation.kind === 'issues' && buttonLink('New issue', `/${repo.owner_login}/${repo.name}/issues/new`, { kind: 'primary', size: 'small' })}</div>`
  return html`<div class="conversation-head">${edits ? titleForm(visit, conversation, typed) : html`<div class="title-bar">${title}${tools}</div>`}
<div class="conversation-state">${stateMark(issue)} <span class="muted">${
    summary ??
    html`<strong>${nameOf(issue.author)}</strong> opened this ${nounOf(conversation)} ${moment(issue.created_at)} · ${count(issue.comments_count, 'comment')}`
  }</span></div>${tabs}</div>`
}

function titleForm(visit: Visit, conversation: Conversation, typed: Typed | undefined): Html {
  const path = addressOf(conversation)
  const { issue } = conversation
  const value = typed?.form === 'title' ? typed.body : issue.title
  const inputs = html`<h1 class="unseen">${issue.title} #${issue.number}</h1>${typed?.form === 'title' && alert(typed.problem)}
${field({ label: 'Title', name: 'title', value, required: true, longest: 256 })}
<div class="buttons">${button('Save title', { kind: 'primary' })}${buttonLink('Cancel', path)}</div>`
  return form(visit, `${path}/title`, inputs, { class: 'form title-form', replace: true })
}
