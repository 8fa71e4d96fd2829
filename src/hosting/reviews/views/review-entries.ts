import { mayEdit, mayPush } from '#hosting/issues/rights.ts'
import { type Entry, nameOf, post, type Stretch } from '#hosting/issues/views/conversation.ts'
import { composer } from '#hosting/mentions/views/composer.ts'
import type { Review } from '#hosting/reviews/reviews.ts'
import { button, buttonLink } from '#web/components/button.ts'
import { icon } from '#web/components/icon.ts'
import { type MenuItem, menu } from '#web/components/menu.ts'
import { moment } from '#web/components/time.ts'
import { timelineItem } from '#web/components/timeline-item.ts'
import { alert, field } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { type Shelf, threadBox } from './thread-box.ts'

const verdicts: Record<Review['state'], [icon: string, tone: string, text: string]> = {
  PENDING: ['pencil', 'accent', 'began a review that is not submitted yet'],
  APPROVED: ['check', 'success', 'approved these changes'],
  CHANGES_REQUESTED: ['file-diff', 'danger', 'requested changes'],
  COMMENTED: ['eye', '', 'reviewed'],
  DISMISSED: ['x', '', 'reviewed, and the review was dismissed'],
}

/** Reviews with the threads that they began, for the timeline. A review that only replies is shown as those replies. */
export function reviewEntries(visit: Visit, shelf: Shelf, { since, until }: Stretch): Entry[] {
  const { reviews, threads } = shelf.talk
  return reviews.flatMap((review): Entry[] => {
    const at = review.submitted_at ?? review.created_at
    const begun = threads.filter(({ first }) => first.review_id === review.id)
    const says = review.body !== '' || begun.length > 0 || review.state !== 'COMMENTED'
    if (!says || (since && at < since) || (until && at >= until)) return []
    const [name, tone, text] = verdicts[review.state]
    const sentence = html`<strong>${nameOf(review.author)}</strong> ${text} ${moment(at)}${review.state === 'PENDING' && html` · <a href="${shelf.path}/files#review">Finish your review</a>`}`
    const more = html`${reviewText(visit, shelf, review)}${review.dismissal && html`<p class="muted">Dismissed: ${review.dismissal}</p>`}${begun.map((thread) => threadBox(visit, shelf, thread))}`
    return [{ at, item: timelineItem(name, sentence, { tone, id: `pullrequestreview-${review.id}`, more }) }]
  })
}

/** The text of a review, or the form in its place. A review without a text can still be dismissed. */
function reviewText(visit: Visit, shelf: Shelf, review: Review): Html | undefined {
  const { repo, path, talk, typed } = shelf
  const id = `pullrequestreview-${review.id}`
  const edits = review.body !== '' && mayEdit(repo, visit.visitor, review.author)
  const counts = review.state === 'APPROVED' || review.state === 'CHANGES_REQUESTED'
  const dismisses = counts && visit.visitor !== null && mayPush(repo) && !repo.archived
  const again = typed?.form === id ? typed : undefined
  if (edits && (again || visit.query.get('edit') === id)) {
    const inputs = html`${alert(again?.problem)}${composer(repo, { id: `${id}-body`, label: 'Text', unlabelled: true, value: again?.body ?? review.body, preview: again?.preview })}
<div class="buttons">${button('Save', { kind: 'primary' })}${buttonLink('Cancel', `${path}#${id}`)}</div>`
    return form(visit, `${path}/reviews/${review.id}`, inputs, { class: 'form reply' })
  }
  const items: MenuItem[] = [
    ...(edits ? [{ text: 'Edit', href: `${path}?edit=${id}#${id}`, icon: 'pencil' }] : []),
    ...(dismisses ? [{ text: 'Dismiss review', href: `${path}?dismiss=${review.id}#${id}`, icon: 'x' }] : []),
  ]
  const tools = items.length ? menu(icon('kebab-horizontal'), items, { label: 'More' }) : undefined
  const foot = dismisses && visit.query.get('dismiss') === String(review.id) ? dismissForm(visit, shelf, review) : undefined
  const text = talk.texts.get(review) ?? html``
  if (text.text === '' && !tools) return undefined
  if (text.text === '') return foot ?? html`<div class="review-tools">${tools}</div>`
  const shown = {
    ...review,
    id: `${id}-text`,
    created_at: review.submitted_at ?? review.created_at,
    did: 'left a review',
    tools,
    foot,
  }
  return post(shown, text)
}

function dismissForm(visit: Visit, { path }: Shelf, { id }: Review): Html {
  const inputs = html`${field({ label: 'Why is this review dismissed?', name: 'message', id: `dismissal-${id}`, required: true, longest: 1000 })}
<div class="buttons">${button('Dismiss review', { kind: 'danger' })}${buttonLink('Cancel', `${path}#pullrequestreview-${id}`)}</div>`
  return form(visit, `${path}/reviews/${id}/dismissal`, inputs, { class: 'form reply' })
}
