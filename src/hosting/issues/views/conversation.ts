import { type CommentCursor, readCommentWindow } from '#hosting/issues/comments/comment-window.ts'
import type { Comment } from '#hosting/issues/comments/comments.ts'
import type { Issue } from '#hosting/issues/issues.ts'
import { mayPush, mayTriage } from '#hosting/issues/rights.ts'
import { renderTexts, textArea } from '#hosting/mentions/views/render-texts.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Person } from '#identity/accounts.ts'
import { moment } from '#web/components/time.ts'
import { alert, type Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Outcome, type Visit } from '#web/page.ts'

/** The issue or pull request that a page shows. */
export interface Conversation {
  repo: Repository
  issue: Issue
  kind: 'issues' | 'pull'
  /** Shown below the title; `side` beside the conversation, `below` before the comment box. */
  summary?: Html
  side?: Html
  below?: Html
  /** The visitor's subscription; undefined when signed out. */
  subscription: Html | undefined
}

/** A form that was refused, to be shown again. */
export interface Typed {
  body: string
  problem: Problem
}

export const addressOf = ({ repo, issue, kind }: Pick<Conversation, 'repo' | 'issue' | 'kind'>) =>
  `${pathOf(repo)}/${kind}/${issue.number}`

/** How many comments a page shows: the newest by default. */
const stretch = 50

export async function conversationPage(visit: Visit, conversation: Conversation, typed?: Typed): Promise<Outcome> {
  const { repo, issue, kind } = conversation
  const { comments, earlier, later } = await readCommentWindow(visit.db, issue, placeIn(visit.query), stretch)
  const [opening = html``, ...texts] = await renderTexts(visit, repo, [issue.body, ...comments.map(({ body }) => body)])
  const posts = comments.map((comment, index) => showComment(comment, texts[index] ?? html``))
  const path = addressOf(conversation)
  const body = html`<main class="conversation"><h1>${issue.title} <span class="muted">#${issue.number}</span></h1>
<p class="summary">${stateMark(issue)} <span class="muted">${nameOf(issue.author)} opened this ${moment(issue.created_at)} ·
${count(issue.comments_count, 'comment')}</span></p>${conversation.summary}
<div class="talk"><div class="posts">${post({ ...issue, id: `issue-${issue.id}` }, issue.body ? opening : html`<p class="muted">No description.</p>`)}
${earlier && html`<p class="more"><a href="${path}?before=${comments[0]?.id}">Earlier comments</a></p>`}${posts}
${later && html`<p class="more"><a href="${path}?from=${(comments.at(-1)?.id ?? 0) + 1}">Later comments</a> · <a href="${path}">The newest</a></p>`}
${conversation.below}${replyBox(visit, conversation, typed)}</div><aside aria-label="About this">${conversation.side}${sideOf(conversation)}${conversation.subscription}</aside></div></main>`
  const title = `${issue.title} · ${kind === 'pull' ? 'Pull request' : 'Issue'} #${issue.number} · ${repo.owner_login}/${repo.name}`
  return {
    title,
    body,
    ...(typed && { status: typed.problem.status }),
    above: repositoryHeader(repo, kind === 'pull' ? 'pulls' : 'issues'),
  }
}

function placeIn(query: URLSearchParams): CommentCursor {
  const id = (name: string) => {
    const text = /^\d{1,15}$/.exec(query.get(name) ?? '')?.[0]
    return text === undefined ? undefined : Number(text)
  }
  return { before: id('before'), from: id('from') }
}

const reasons = { completed: '', not_planned: ' as not planned', duplicate: ' as a duplicate', reopened: '' }

/** A pull request can also be a draft or merged. */
export function stateMark({ state, state_reason, locked, draft, merged_at }: Marked): Html {
  const [name, text] = merged_at
    ? ['merged', 'Merged']
    : state === 'closed'
      ? ['closed', `Closed${state_reason ? reasons[state_reason] : ''}`]
      : draft
        ? ['draft', 'Draft']
        : ['open', 'Open']
  return html`<span class="state ${name}">${text}</span>${locked && html` <span class="badge">locked</span>`}`
}

type Marked = Pick<Issue, 'state' | 'state_reason' | 'locked' | 'draft' | 'merged_at'>

export const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`

/** A deleted account's texts stay. */
export const nameOf = (person: Person | null) =>
  person ? html`<a href="/${person.login}">${person.login}</a>` : html`a deleted user`

export interface Post {
  id: string
  author: Person | null
  author_association?: string
  created_at: Date
  updated_at?: Date
  /** The verb before the date. */
  did?: string
}

export function post({ id, author, author_association, created_at, did = 'wrote' }: Post, text: Html): Html {
  const role = author_association && author_association !== 'NONE' && author_association.toLowerCase()
  return html`<article class="post" id="${id}" aria-label="${author?.login ?? 'a deleted user'} ${did}"><header>
${author && html`<img src="/avatars/${author.id}" alt="" width="24" height="24">`} <strong>${nameOf(author)}</strong>
<span class="muted">${did} <a href="#${id}">${moment(created_at)}</a></span>${role && html` <span class="badge">${role}</span>`}</header>
${text.text !== '' && html`<div class="markdown">${text}</div>`}</article>`
}

const showComment = (comment: Comment, text: Html) => post({ ...comment, id: `issuecomment-${comment.id}` }, text)

/** Whether the visitor may close and reopen it: the same rule as in update.ts. */
function mayClose({ visitor }: Visit, { repo, issue }: Conversation): boolean {
  return !repo.archived && visitor !== null && (issue.author?.id === visitor.id || mayTriage(repo))
}

function replyBox(visit: Visit, conversation: Conversation, typed: Typed | undefined): Html {
  const { repo, issue, kind } = conversation
  const path = addressOf(conversation)
  if (!visit.visitor) {
    return html`<p class="more"><a href="/login?return_to=${encodeURIComponent(path)}">Sign in</a> to comment.</p>`
  }
  if (repo.archived) return html`<p class="more muted">This repository is archived, so you cannot comment.</p>`
  const closing = mayClose(visit, conversation) && closeButton(conversation)
  if (issue.locked && !mayPush(repo)) {
    const said = html`<p class="more muted">This conversation is locked${issue.lock_reason && ` as ${issue.lock_reason}`}: only users with push access can comment.</p>`
    return html`${said}${closing && form(visit, `${path}/comments`, html`${closing}`)}`
  }
  const noun = kind === 'pull' ? 'pull request' : 'issue'
  const box = html`${alert(typed?.problem)}${textArea('body', `Comment on this ${noun}`, typed?.body ?? '', { required: true })}
<button class="primary">Comment</button> ${closing}`
  return form(visit, `${path}/comments`, box, { class: 'form reply' })
}

/** Works with or without a comment. A merged pull request cannot be reopened. */
function closeButton({ issue, kind }: Conversation): Html {
  const noun = kind === 'pull' ? 'pull request' : 'issue'
  if (issue.state === 'open') return html`<button name="state" value="closed" formnovalidate>Close ${noun}</button>`
  return issue.merged_at ? html`` : html`<button name="state" value="open" formnovalidate>Reopen ${noun}</button>`
}

function sideOf({ repo, issue }: Conversation): Html {
  const { labels, assignees, milestone } = issue
  const people = assignees.map((person) => html`<li>${nameOf(person)}</li>`)
  return html`<h2 class="small">Labels</h2>${labels.length ? html`<ul class="plain">${labels.map((label) => html`<li>${labelMark(label)}</li>`)}</ul>` : none}
<h2 class="small">Assigned to</h2>${people.length ? html`<ul class="plain">${people}</ul>` : none}
<h2 class="small">Milestone</h2>${milestone ? html`<p><a href="${pathOf(repo)}/issues?milestone=${milestone.number}">${milestone.title}</a></p>` : none}`
}

const none = html`<p class="muted">None</p>`

/** The colour is an SVG attribute, because our content security policy forbids `style`. */
export function labelMark({ name, color, description }: Issue['labels'][number]): Html {
  return html`<span class="label" title="${description}"><svg width="10" height="10" aria-hidden="true"><circle cx="5" cy="5" r="4.5" fill="#${color}" stroke="#808080"/></svg> ${name}</span>`
}
