import type { Issue } from '#hosting/issues/issues.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Person } from '#identity/accounts.ts'
import { avatar } from '#web/components/avatar.ts'
import { icon } from '#web/components/icon.ts'
import { badge, type SubjectState, stateIcon, stateLabel } from '#web/components/label.ts'
import { markdownBody } from '#web/components/markdown-body.ts'
import { moment } from '#web/components/time.ts'
import type { Problem } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'

/** The issue or pull request that a page shows. */
export interface Conversation {
  repo: Repository
  issue: Issue
  kind: 'issues' | 'pull'
  /** A sentence beside the state, in place of who opened it; `tabs` are shown below it. */
  summary?: Html
  tabs?: Html
  /** Sections beside the conversation, before the assignees; `below` is shown before the comment box. */
  side?: Html
  below?: Html
  /** What the timeline shows besides comments and events, such as reviews and commits. */
  entries?(stretch: Stretch): Promise<Entry[]>
  /** See `liveAttributes`. */
  live?: Html | undefined
  /** The visitor's subscription; undefined when signed out. */
  subscription: Html | undefined
}

/** A page shows the part of a long timeline from `since` until before `until`; null has no limit. */
export interface Stretch {
  since: Date | null
  until: Date | null
}

/** One item of a timeline: a list item, as `timelineItem` and `postItem` make. */
export interface Entry {
  at: Date
  item: Html
}

/** A form to be shown again, because it was refused or its preview was requested. */
export interface Typed {
  /** The comment box by default; otherwise `title` or the id of a post. */
  form?: string
  body: string
  problem?: Problem
  preview?: boolean
}

export const addressOf = ({ repo, issue, kind }: Pick<Conversation, 'repo' | 'issue' | 'kind'>) =>
  `${pathOf(repo)}/${kind}/${issue.number}`

/** The part of a long timeline that an address shows, to return to it after a form: empty, or `from=` or `before=` a comment. */
export function windowIn(query: URLSearchParams): string {
  const name = ['from', 'before'].find((one) => /^\d{1,15}$/.test(query.get(one) ?? ''))
  return name === undefined ? '' : `${name}=${query.get(name)}`
}

/** The address of a post in the part of the timeline that the query names. */
export const postAddress = (path: string, query: URLSearchParams, anchor: string) => {
  const window = windowIn(query)
  return `${path}${window && `?${window}`}#${anchor}`
}

export const nounOf = ({ kind }: Pick<Conversation, 'kind'>) => (kind === 'pull' ? 'pull request' : 'issue')

type Marked = Pick<Issue, 'state' | 'state_reason' | 'locked' | 'draft' | 'merged_at'>

/** Issues are no drafts; for pull requests, `draft` is true or false. */
const kindOf = ({ draft }: Marked) => (draft === null ? 'issue' : 'pull')

export function subjectState({ state, state_reason, draft, merged_at }: Omit<Marked, 'locked'>): SubjectState {
  if (merged_at) return 'merged'
  if (state === 'closed') return state_reason === 'not_planned' || state_reason === 'duplicate' ? 'not_planned' : 'closed'
  return draft ? 'draft' : 'open'
}

const reasons = { not_planned: 'Closed as not planned', duplicate: 'Closed as a duplicate' } as const

/** The state as a filled label, and whether the conversation is locked. */
export function stateMark(marked: Marked): Html {
  const { state, state_reason, locked } = marked
  const reason = state === 'closed' && (state_reason === 'not_planned' || state_reason === 'duplicate') && reasons[state_reason]
  return html`${stateLabel(subjectState(marked), kindOf(marked), reason || undefined)}${locked && html` ${badge('Locked', 'attention')}`}`
}

/** The state as an icon, for lists. */
export const stateSign = (marked: Marked) => stateIcon(subjectState(marked), kindOf(marked))

export const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`

/** A deleted account's texts stay. */
export const nameOf = (person: Person | null) =>
  person ? html`<a href="/${person.login}">${person.login}</a>` : html`a deleted user`

export interface Post {
  /** The anchor of the post. */
  id: string
  author: Person | null
  author_association?: string
  created_at: Date
  /** When it was last edited, if it was. */
  edited_at?: Date | null
  /** Who edited it last. Named if it is not the author. */
  editor?: Person | null
  /** The verb before the date. */
  did?: string
  /** At the end of the header, as a menu; and below the text, as reactions. */
  tools?: Html | undefined
  foot?: Html | undefined
  /** Attributes for scripts, as of `taskAttributes`. */
  attributes?: Html | undefined
}

/** A text of a person in a frame: a comment, a review, the opening of an issue. */
export function post({ id, author, author_association, created_at, did = 'commented', ...more }: Post, text: Html): Html {
  const { edited_at, editor, tools, foot, attributes } = more
  const other = editor && editor.id !== author?.id && html` by ${nameOf(editor)}`
  const role = author_association && author_association !== 'NONE' && author_association
  return html`<article class="post" id="${id}" aria-label="${author?.login ?? 'a deleted user'} ${did}"${attributes}><header>
${author ? avatar(author, 24) : icon('person')} <strong>${nameOf(author)}</strong>
<span class="muted">${did} <a href="#${id}">${moment(created_at)}</a>${(edited_at || editor) && html` · <span class="editor"${edited_at && html` title="Edited ${edited_at.toISOString()}"`}>edited${other}</span>`}</span>
<span class="space"></span>${role && badge(role.charAt(0) + role.slice(1).toLowerCase())}${tools}</header>
${text.text !== '' && markdownBody(text)}${foot}</article>`
}

/** A post as an item of a timeline. */
export const postItem = (shown: Post, text: Html): Html => html`<li class="timeline-post">${post(shown, text)}</li>`
