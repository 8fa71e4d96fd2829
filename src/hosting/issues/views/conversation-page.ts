import { mayPush, mayTriage } from '#hosting/issues/rights.ts'
import { composer, previewOf } from '#hosting/mentions/views/composer.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { button } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { menu } from '#web/components/menu.ts'
import { banner } from '#web/components/toast.ts'
import { alert } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type Visit } from '#web/page.ts'
import { addressOf, type Conversation, nounOf, type Typed } from './conversation.ts'
import { conversationHead } from './conversation-head.ts'
import { quotedText } from './quoting.ts'
import { conversationSide } from './side.ts'
import { timeline } from './timeline.ts'

/** For the list of keys; conversations.js acts on them. */
const keys = JSON.stringify([
  ['r', 'Write a comment'],
  ['Ctrl Enter', 'Send the comment'],
  ['l', 'Change labels'],
  ['a', 'Change assignees'],
  ['m', 'Change the milestone'],
])

export async function conversationPage(visit: Visit, conversation: Conversation, typed?: Typed): Promise<Outcome> {
  const { repo, issue, kind } = conversation
  const [talk, side, box] = await Promise.all([
    timeline(visit, conversation, typed),
    conversationSide(visit, conversation),
    commentBox(visit, conversation, typed?.form === undefined ? typed : undefined),
  ])
  const body = html`<main class="conversation" data-page-keys="${keys}"${conversation.live}>${banner(visit.flash.done)}${conversationHead(visit, conversation, typed)}
<div class="with-side"><div class="talk">${talk}${conversation.below}${box}</div>${side}</div></main>`
  const title = `${issue.title} · ${kind === 'pull' ? 'Pull request' : 'Issue'} #${issue.number} · ${repo.owner_login}/${repo.name}`
  return {
    title,
    body,
    ...(typed?.problem && { status: typed.problem.status }),
    above: repositoryHeader(repo, kind === 'pull' ? 'pulls' : 'issues'),
  }
}

/** Whether the visitor may close and reopen it: the same rule as in update.ts. */
function mayClose({ visitor }: Visit, { repo, issue }: Conversation): boolean {
  return !repo.archived && visitor !== null && (issue.author?.id === visitor.id || mayTriage(repo))
}

async function commentBox(visit: Visit, conversation: Conversation, typed: Typed | undefined): Promise<Html> {
  const { repo, issue } = conversation
  const path = addressOf(conversation)
  if (!visit.visitor) {
    return html`<p class="comment-box muted"><a href="/login?return_to=${encodeURIComponent(path)}">Sign in</a> to comment.</p>`
  }
  if (repo.archived) return html`<p class="comment-box muted">This repository is archived, so you cannot comment.</p>`
  const closing = mayClose(visit, conversation) && closeButtons(conversation)
  if (issue.locked && !mayPush(repo)) {
    const said = html`<p class="muted">${icon('lock')} This conversation is locked${issue.lock_reason && ` as ${issue.lock_reason}`}: only users with push access can comment.</p>`
    return html`<div class="comment-box">${said}${closing && form(visit, `${path}/comments`, html`<div class="buttons">${closing}</div>`)}</div>`
  }
  const value = typed?.body ?? (await quotedText(visit, conversation))
  const preview = typed?.preview ? await previewOf(visit, repo, typed.body) : undefined
  const box = html`${alert(typed?.problem)}${composer(repo, { id: 'comment', label: `Comment on this ${nounOf(conversation)}`, value, required: true, preview, draft: path })}
<div class="buttons end">${closing}${button('Comment', { kind: 'primary' })}</div>`
  return html`<div class="comment-box">${form(visit, `${path}/comments`, box, { class: 'form reply' })}</div>`
}

const closings = [
  ['closed completed', 'Close as completed', 'Done, closed, fixed, resolved', 'issue-closed'],
  ['closed not_planned', 'Close as not planned', 'Will not be done, cannot be reproduced, stale', 'skip'],
  ['closed duplicate', 'Close as a duplicate', 'Another issue is about the same', 'duplicate'],
] as const

/** They work with or without a comment. A merged pull request cannot be reopened. */
function closeButtons(conversation: Conversation): Html {
  const { issue, kind } = conversation
  const noun = nounOf(conversation)
  if (issue.state === 'closed') {
    return issue.merged_at ? html`` : button(`Reopen ${noun}`, { name: 'state', value: 'open', unchecked: true })
  }
  const close = button(`Close ${noun}`, {
    name: 'state',
    value: 'closed',
    unchecked: true,
    icon: kind === 'pull' ? 'git-pull-request-closed' : 'issue-closed',
  })
  if (kind === 'pull') return close
  const items = closings.map(([value, title, text, name]) => ({
    markup: html`<button name="state" value="${value}" formnovalidate>${icon(name)}<span>${title}<br><small class="muted">${text}</small></span></button>`,
  }))
  return html`<span class="button-group">${close}${menu(html`<span class="button">${icon('triangle-down')}</span>`, items, { label: 'Close with a reason', kind: 'upward' })}</span>`
}
