import { join } from 'node:path'
import { type EventGroup, groupEvents } from '#parts/timelines/groups.ts'
import type { EventRecord } from '#parts/timelines/records.ts'
import { type Link, listed, type Sentence, sentenceOf } from '#parts/timelines/sentences.ts'
import { avatar } from '#web/components/avatar.ts'
import { icon } from '#web/components/icon.ts'
import { moment } from '#web/components/time.ts'
import { type Html, html } from '#web/html.ts'

export const assets = join(import.meta.dirname, '..', 'assets')

const mostCommits = 3
const mostPictures = 10

/** Events as sentences, newest first; events next to each other that are alike become one line. */
export function activityList(events: EventRecord[], { label = 'Activity' }: { label?: string } = {}): Html {
  return html`<ol class="activity-list" aria-label="${label}">${groupEvents(events).map(line)}</ol>`
}

function line(group: EventGroup): Html {
  const [newest] = group
  const { event } = newest
  const sentence = sentenceOf(group, '')
  const actors = [...new Map(group.map((one) => [one.event.actor_id, one.event.actor_login]))]
  const people = actors.map(([, login]): Link => ({ name: login, href: `/${login}` }))
  const [name, tone] = badgeOf(newest)
  return html`<li id="event-${event.id}"><span class="activity-picture">${avatar({ id: event.actor_id }, 32)}<span class="activity-badge ${tone}">${icon(name)}</span></span>
<div class="activity-text"><p class="activity-sentence"><span>${listed(people).map((word) => wordOf(word, 'actor'))} ${sentence.words.map((word) => wordOf(word))}</span> <a class="activity-time" href="${sentence.link}">${moment(event.created_at)}</a></p>${pictures(actors)}${details(sentence, event.type)}</div></li>`
}

const wordOf = (word: string | Link, kind = '') =>
  typeof word === 'string'
    ? html`${word}`
    : html`<a${kind && html` class="${kind}"`} href="${word.href}"><bdi>${word.name}</bdi></a>`

function pictures(actors: [id: number, login: string][]): Html | false {
  if (actors.length < 3) return false
  return html`<p class="activity-people">${actors.slice(0, mostPictures).map(([id, login]) => html`<a href="/${login}" title="${login}" aria-label="${login}">${avatar({ id }, 24)}</a>`)}</p>`
}

function details({ commits = [], other_commits = 0, title, text, link }: Sentence, type: string): Html | false {
  const shown = commits.slice(0, mostCommits)
  const others = other_commits + commits.length - shown.length
  const list = shown.map(
    ({ sha, href, message }) => html`<li><a class="sha" href="${href}">${sha.slice(0, 7)}</a> <bdi>${message}</bdi></li>`,
  )
  const more = others > 0 && html`<li><a href="${link}">${others} more ${others === 1 ? 'commit' : 'commits'}</a></li>`
  if (list.length) return html`<ul class="activity-details commits">${list}${more}</ul>`
  if (!title && !text) return false
  const named =
    title &&
    (type === 'CreateEvent'
      ? html`<p><bdi>${title}</bdi></p>`
      : html`<p class="activity-title"><a href="${link}"><bdi>${title}</bdi></a></p>`)
  return html`<div class="activity-details">${named}${text && html`<p class="activity-excerpt" dir="auto">${withoutMarkup(text)}</p>`}</div>`
}

/** The words of the start of a Markdown text. */
const withoutMarkup = (text: string) =>
  text
    .replaceAll(/!?\[([^[\]]*)\]\([^()\s]*\)/g, '$1')
    .replaceAll(/\*\*|__|~~|`+/g, '')
    .replaceAll(/^[ \t]*(?:#{1,6}|>+|[-*+])[ \t]+/gm, '')

/** The icon of an event, and its colour. */
function badgeOf({ event, review }: EventRecord): [name: string, tone: string] {
  switch (event.type) {
    case 'PushEvent':
      return ['repo-push', '']
    case 'CreateEvent': {
      const icons = { repository: 'repo', branch: 'git-branch', tag: 'tag' } as const
      return [icons[event.payload.ref_type], '']
    }
    case 'DeleteEvent':
      return ['trash', '']
    case 'ForkEvent':
      return ['repo-forked', '']
    case 'WatchEvent':
      return ['star-fill', 'attention']
    case 'PublicEvent':
      return ['globe', '']
    case 'MemberEvent':
      return ['person-add', '']
    case 'ReleaseEvent':
      return ['rocket', 'accent']
    case 'IssuesEvent':
      return changes[event.payload.action] ?? issueBadges[event.payload.action] ?? ['issue-opened', '']
    case 'PullRequestEvent':
      if ('merged' in event.payload) return ['git-merge', 'done']
      return changes[event.payload.action] ?? pullBadges[event.payload.action] ?? ['git-pull-request', '']
    case 'PullRequestReviewEvent':
      if (review?.state === 'APPROVED') return ['check', 'open']
      return review?.state === 'CHANGES_REQUESTED' ? ['file-diff', 'danger'] : ['eye', '']
    case 'PullRequestReviewCommentEvent':
      return ['code-review', '']
    case 'IssueCommentEvent':
    case 'CommitCommentEvent':
      return ['comment', '']
  }
}

const changes: Record<string, [string, string]> = {
  assigned: ['person', ''],
  unassigned: ['person', ''],
  labeled: ['tag', ''],
  unlabeled: ['tag', ''],
}

const issueBadges: Record<string, [string, string]> = {
  opened: ['issue-opened', 'open'],
  reopened: ['issue-reopened', 'open'],
  closed: ['issue-closed', 'done'],
}

const pullBadges: Record<string, [string, string]> = {
  opened: ['git-pull-request', 'open'],
  reopened: ['git-pull-request', 'open'],
  closed: ['git-pull-request-closed', 'danger'],
}
