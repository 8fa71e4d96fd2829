import { listPeople } from '#hosting/people/views/people-list.ts'
import { audienceHead, newestFirst, perPage } from '#hosting/repositories/views/audience.ts'
import { repositoryHeader } from '#hosting/repositories/views/repository-header.ts'
import { loadVisibleRepository, pageIn, pathOf } from '#hosting/repositories/views/repository-page.ts'
import { invalid } from '#platform/errors.ts'
import { emptyState } from '#web/components/empty-state.ts'
import { pager } from '#web/components/pager.ts'
import { moment } from '#web/components/time.ts'
import { html } from '#web/html.ts'
import { type Outcome, type PageRoute, type SignedIn, show, showOwn, submitOwn, type Visit } from '#web/page.ts'
import { pageOfForm } from '#web/return-to.ts'
import { subscriptionPage } from './views/subscription.ts'
import { findSubscription, listWatchers, type Subscription, setSubscription, watchedKinds } from './watching.ts'

export const pages: PageRoute[] = [
  show('/:owner/:repo/watchers', showWatchers),
  submitOwn('/:owner/:repo/watch', watch),
  showOwn('/:owner/:repo/subscription', showSubscription),
]

async function showWatchers(visit: Visit): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const page = pageIn(visit.query)
  const total = repo.subscribers_count
  const people = await newestFirst(total, page, (slice) => listWatchers(visit.db, repo, slice))
  const list = people.length
    ? await listPeople(visit, people, ({ watched_at }) => html`watching since ${moment(watched_at)}`)
    : emptyState('eye', 'Nobody watches yet', 'People who are notified of what happens here are listed.')
  return {
    title: `Watchers · ${repo.owner_login}/${repo.name}`,
    body: html`<main>${audienceHead(repo, 'watchers')}${list}${pager(`${pathOf(repo)}/watchers`, {}, page, Math.ceil(total / perPage))}</main>`,
    above: repositoryHeader(repo),
  }
}

async function showSubscription(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const body = subscriptionPage(visit, repo, await findSubscription(visit.db, visit.visitor, repo))
  return { title: `Watching · ${repo.owner_login}/${repo.name}`, body, above: repositoryHeader(repo) }
}

const messages = {
  participating: 'You are notified when you take part or are mentioned.',
  all: 'You are notified of all activity.',
  ignore: 'You are never notified of this repository.',
  custom: 'You are notified of the kinds that you chose.',
}

async function watch(visit: SignedIn): Promise<Outcome> {
  const repo = await loadVisibleRepository(visit)
  const { form, visitor } = visit
  const level = form.get('level') ?? ''
  if (!isLevel(level)) throw invalid({ resource: 'Subscription', code: 'invalid', field: 'level' })
  const kinds = watchedKinds.filter((kind) => form.getAll('kind').includes(kind))
  // Choosing no kind is the same as being notified only of what concerns the user.
  const chosen = level === 'custom' && kinds.length === 0 ? 'participating' : level
  const wanted: Record<typeof chosen, Partial<Subscription>> = {
    participating: { subscribed: false },
    all: {},
    ignore: { ignored: true },
    custom: { kinds },
  }
  await visit.db.transaction((db) => setSubscription(db, visitor, repo, wanted[chosen]))
  const to = pageOfForm(visit.request, pathOf(repo))
  // The menu above every page shows the level itself.
  return to === `${pathOf(repo)}/subscription` ? { to, flash: { done: messages[chosen] } } : { to }
}

const isLevel = (text: string): text is keyof typeof messages => Object.hasOwn(messages, text)
