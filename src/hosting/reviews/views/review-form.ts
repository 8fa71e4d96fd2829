import { count } from '#hosting/issues/views/conversation.ts'
import { composer } from '#hosting/mentions/views/composer.ts'
import type { PendingReview } from '#hosting/reviews/pending.ts'
import { button } from '#web/components/button.ts'
import { alert, choice } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type Visit } from '#web/page.ts'
import { mayReview, type Shelf } from './thread-box.ts'

const events: [value: string, title: string, text: string][] = [
  ['COMMENT', 'Comment', 'Say something without a verdict.'],
  ['APPROVE', 'Approve', 'These changes can be merged.'],
  ['REQUEST_CHANGES', 'Request changes', 'Something must change before these are merged.'],
]

/** A text and a verdict, which submit the pending comments too. Authors cannot judge their own changes. */
export function reviewForm(visit: Visit, shelf: Shelf, pending: PendingReview | undefined): Html | undefined {
  const { repo, pull, path, typed } = shelf
  if (!mayReview(visit, shelf)) return undefined
  const again = typed?.form === 'review' ? typed : undefined
  const own = pull.author?.id === visit.visitor?.id
  const choices = events
    .filter(([value]) => !own || value === 'COMMENT')
    .map(([value, title, text]) =>
      choice(
        { name: 'event', value, type: 'radio', chosen: value === (visit.form.get('event') ?? 'COMMENT') },
        html`<strong>${title}</strong> <span class="muted">${text}</span>`,
      ),
    )
  const waiting =
    pending &&
    html`<p>${count(pending.comments, 'comment')} of yours ${pending.comments === 1 ? 'waits' : 'wait'} until you submit this review. Only you see ${pending.comments === 1 ? 'it' : 'them'} now.</p>`
  const inputs = html`${alert(again?.problem)}${waiting}${pending && html`<input type="hidden" name="pending" value="${pending.id}">`}<input type="hidden" name="commit" value="${pull.head_sha}">
${composer(repo, { id: 'review-body', label: 'Your review', unlabelled: true, value: again?.body ?? pending?.body ?? '', preview: again?.preview, draft: `${path} review` })}
<fieldset class="verdicts"><legend class="unseen">Verdict</legend>${choices}</fieldset>
<div class="buttons">${button('Submit review', { kind: 'primary', name: 'submit', value: 'yes' })}${pending && button('Discard review', { kind: 'danger', name: 'discard', value: 'yes', unchecked: true })}</div>`
  return html`<section class="review-form" id="review" aria-labelledby="review-title"><h2 id="review-title">Finish your review</h2>${form(visit, `${path}/reviews`, inputs, { class: 'form reply', enter: { name: 'submit', value: 'yes' } })}</section>`
}
