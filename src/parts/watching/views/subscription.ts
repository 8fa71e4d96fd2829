import type { Repository } from '#hosting/repositories/repositories.ts'
import { pathOf } from '#hosting/repositories/views/repository-page.ts'
import { type Subscription, type WatchedKind, watchedKinds } from '#parts/watching/watching.ts'
import { button } from '#web/components/button.ts'
import { banner } from '#web/components/toast.ts'
import { choice } from '#web/fields.ts'
import { type Html, html } from '#web/html.ts'
import { form, type SignedIn } from '#web/page.ts'

const levels = [
  ['participating', 'Participating and @mentions', 'Notify me when I take part, am mentioned or am asked for a review.'],
  ['all', 'All activity', 'Notify me of every issue, pull request, release and commit comment.'],
  ['custom', 'Custom', 'Notify me of the kinds below, and of what concerns me.'],
  ['ignore', 'Ignore', 'Never notify me, also not when I am mentioned.'],
] as const

const kindNames: Record<WatchedKind, string> = {
  Issue: 'Issues',
  PullRequest: 'Pull requests',
  Release: 'Releases',
  Commit: 'Comments on commits',
}

const levelOf = (subscription: Subscription | undefined) =>
  !subscription ? 'participating' : subscription.ignored ? 'ignore' : subscription.kinds ? 'custom' : 'all'

/** What a user is notified of in a repository. */
export function subscriptionPage(visit: SignedIn, repo: Repository, subscription: Subscription | undefined): Html {
  const current = levelOf(subscription)
  const chosen = subscription?.kinds ?? []
  const choices = levels.map(
    ([value, title, text]) =>
      html`${choice({ name: 'level', value, type: 'radio', chosen: value === current }, html`<strong>${title}</strong>`)}<p class="hint muted">${text}</p>`,
  )
  const kinds = watchedKinds.map((kind) => choice({ name: 'kind', value: kind, chosen: chosen.includes(kind) }, kindNames[kind]))
  return html`<main>${banner(visit.flash.done)}<h1>Watching ${repo.owner_login}/${repo.name}</h1>
<p class="muted">Notifications of this repository arrive in your <a href="/notifications">inbox</a>.</p>
${form(
  visit,
  `${pathOf(repo)}/watch`,
  html`<fieldset><legend>Notify me of</legend>${choices}</fieldset>
<fieldset><legend>Kinds, for the custom level</legend>${kinds}</fieldset>${button('Save', { kind: 'primary' })}`,
)}</main>`
}
