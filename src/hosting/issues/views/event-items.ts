import type { IssueEvent } from '#hosting/issues/events/events.ts'
import { queryFor } from '#hosting/issues/views/list-query.ts'
import type { CrossReference } from '#hosting/mentions/cross-references.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import type { Person } from '#identity/accounts.ts'
import { avatar } from '#web/components/avatar.ts'
import { issueLabel } from '#web/components/label.ts'
import { moment } from '#web/components/time.ts'
import { timelineItem } from '#web/components/timeline-item.ts'
import { type Html, html } from '#web/html.ts'
import type { Entry } from './conversation.ts'
import { nameOf, stateSign } from './conversation.ts'

/** Where the events happened. */
export interface EventPlace {
  /** The path of the repository. */
  path: string
  is_pull: boolean
}

/** Label changes by one user within this many milliseconds are one sentence. The same for assignees. */
const together = 60_000

const families: Partial<Record<IssueEvent['event'], string>> = {
  labeled: 'labels',
  unlabeled: 'labels',
  assigned: 'assignees',
  unassigned: 'assignees',
  review_requested: 'reviewers',
  review_request_removed: 'reviewers',
}

/** They are in the API's history. On a page, the mention itself is read in the comment. */
const unshown = new Set<string>(['mentioned', 'subscribed', 'unsubscribed'])

/** The events as sentences, oldest first. */
export function eventEntries(events: IssueEvent[], place: EventPlace): Entry[] {
  const groups: IssueEvent[][] = []
  for (const event of events.filter(({ event }) => !unshown.has(event))) {
    const last = groups.at(-1)
    if (last?.[0] && belongs(last[0], event)) last.push(event)
    else groups.push([event])
  }
  return groups.flatMap((group, index) => {
    const [first] = group
    // A merge closes the pull request; one sentence says both.
    if (!first || (first.event === 'closed' && groups[index - 1]?.[0]?.event === 'merged')) return []
    return { at: first.created_at, item: itemOf(group, first, place) }
  })
}

function belongs(first: IssueEvent, next: IssueEvent): boolean {
  const family = families[next.event]
  return (
    family !== undefined &&
    family === families[first.event] &&
    first.actor?.id === next.actor?.id &&
    next.created_at.getTime() - first.created_at.getTime() < together
  )
}

function itemOf(group: IssueEvent[], first: IssueEvent, place: EventPlace): Html {
  const { actor, created_at, id } = first
  const [name, did, tone] = described(group, first, place)
  const sentence = html`${whoOf(actor)} ${did} <a class="muted" href="#event-${id}">${moment(created_at)}</a>`
  return timelineItem(name, sentence, { id: `event-${id}`, ...(tone && { tone }) })
}

const whoOf = (actor: Person | null) => html`${actor && html`${avatar(actor, 20)} `}<strong>${nameOf(actor)}</strong>`

type Described = [icon: string, did: Html, tone?: string]

function described(group: IssueEvent[], first: IssueEvent, place: EventPlace): Described {
  const of = (name: IssueEvent['event']) => group.filter(({ event }) => event === name)
  switch (families[first.event]) {
    case 'labels':
      return ['tag', changed('added', of('labeled'), 'removed', of('unlabeled'), (event) => labelOf(event, place))]
    case 'assignees':
      return ['person', assignment(first, of('assigned'), of('unassigned'))]
    case 'reviewers':
      return [
        'eye',
        changed(
          'requested a review from',
          of('review_requested'),
          'removed the request for a review from',
          of('review_request_removed'),
          reviewerOf,
        ),
      ]
    default:
      return single(first, place)
  }
}

function assignment({ actor }: IssueEvent, added: IssueEvent[], removed: IssueEvent[]): Html {
  const own = (events: IssueEvent[]) => events.length === 1 && actor && events[0]?.assignee?.id === actor.id
  if (own(added) && !removed.length) return html`self-assigned this`
  if (own(removed) && !added.length) return html`removed their assignment`
  return changed('assigned', added, 'unassigned', removed, ({ assignee }) => strongName(assignee))
}

/** "added a and b, and removed c". */
function changed(
  add: string,
  added: IssueEvent[],
  remove: string,
  removed: IssueEvent[],
  write: (event: IssueEvent) => Html,
): Html {
  const plus = added.length > 0 && html`${add} ${added.map((event) => html`${write(event)} `)}`
  const minus = removed.length > 0 && html`${remove} ${removed.map((event) => html`${write(event)} `)}`
  return html`${plus}${plus && minus && 'and '}${minus}`
}

const strongName = (person: Person | null) => html`<strong>${nameOf(person)}</strong>`

function reviewerOf({ requested_reviewer, requested_team }: IssueEvent): Html {
  if (requested_reviewer) return strongName(requested_reviewer)
  if (!requested_team) return html`a team`
  const { org_login, slug } = requested_team
  return html`<strong><a href="/orgs/${org_login}/teams/${slug}">${org_login}/${slug}</a></strong>`
}

function labelOf({ label_name, label_color }: IssueEvent, { path, is_pull }: EventPlace): Html {
  const [name, only] = [label_name ?? '', is_pull ? 'pulls' : 'issues'] as const
  return issueLabel({ name, color: label_color ?? 'ededed' }, `${path}/${only}?${queryFor(only, { label: name })}`)
}

const closings = {
  completed: ['issue-closed', html`closed this as completed`, 'closed'],
  not_planned: ['skip', html`closed this as not planned`],
  duplicate: ['duplicate', html`closed this as a duplicate`],
} satisfies Record<string, Described>

function single(event: IssueEvent, { path, is_pull }: EventPlace): Described {
  const { state_reason, lock_reason, milestone_title, renamed_from, renamed_to, commit_id } = event
  const commit = commit_id && html`<a href="${path}/commit/${commit_id}"><code>${commit_id.slice(0, 7)}</code></a>`
  switch (event.event) {
    case 'closed':
      if (is_pull) return ['git-pull-request-closed', html`closed this`, 'danger']
      return closings[(state_reason ?? 'completed') as keyof typeof closings] ?? closings.completed
    case 'reopened':
      return [is_pull ? 'git-pull-request' : 'issue-reopened', html`reopened this`, 'open']
    case 'merged':
      return ['git-merge', html`merged this${commit && html` with ${commit}`}`, 'merged']
    case 'renamed':
      return ['pencil', html`changed the title from <del><bdi>${renamed_from}</bdi></del> to <ins><bdi>${renamed_to}</bdi></ins>`]
    case 'locked':
      return [
        'lock',
        html`locked this${lock_reason && html` as <strong>${lock_reason}</strong>`} and limited it to collaborators`,
      ]
    case 'unlocked':
      return ['unlock', html`unlocked this`]
    case 'milestoned':
      return ['milestone', html`added this to the milestone <strong>${milestone_title}</strong>`]
    case 'demilestoned':
      return ['milestone', html`removed this from the milestone <strong>${milestone_title}</strong>`]
    case 'convert_to_draft':
      return ['git-pull-request-draft', html`marked this as a draft`]
    case 'ready_for_review':
      return ['eye', html`marked this as ready for review`]
    default:
      return ['dot-fill', html`${event.event.replaceAll('_', ' ')}`]
  }
}

/** Who mentioned this where, with the state that the other issue or pull request has now. */
export function referenceEntries(references: CrossReference[]): Entry[] {
  return references.map((reference) => {
    const { id, actor, created_at, comment_id, number, title } = reference
    const path = pathOf(reference)
    const anchor = comment_id === null ? '' : `#issuecomment-${comment_id}`
    const link = html`<a href="${path}/${reference.draft === null ? 'issues' : 'pull'}/${number}${anchor}"><bdi>${title}</bdi></a> <span>${path.slice(1)}#${number}</span>`
    const sentence = html`${whoOf(actor)} mentioned this <a class="muted" href="#reference-${id}">${moment(created_at)}</a>`
    const more = html`<div class="timeline-reference">${stateSign(reference)} ${link}</div>`
    return { at: created_at, item: timelineItem('cross-reference', sentence, { id: `reference-${id}`, more }) }
  })
}
