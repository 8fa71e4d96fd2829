import { type Context, Part } from '../check.ts'
import { user } from '../resources.ts'
import { listOf } from '../shape.ts'

export const watching = new Part('Watching')

const subscribers = 'GET /repos/{owner}/{repo}/subscribers'
const subscription = 'GET /repos/{owner}/{repo}/subscription'

/** A repository that the caller watches. */
async function watched({ me, workspace }: Context) {
  const repo = await workspace.repo()
  // Not an operation of the specification: a server may not have it, and owners may watch from the start.
  ;(await me.put(`${repo.path}/subscription`, { subscribed: true, ignored: false })).prepares()
  return repo
}

watching.check(
  'subscribers.list',
  subscribers,
  ['200 array of User (per_page, page)', 'lists watchers of a repository.'],
  async (context) => {
    const repo = await watched(context)
    const answer = (await context.me.get(`${repo.path}/subscribers`)).is(200).matches(listOf(user))
    answer.must(
      answer.list().some((row) => row.login === context.target.login),
      `the user ${context.target.login}`,
      answer.list().map((row) => row.login),
    )
  },
)

watching.check('subscribers.anonymous', subscribers, ['200 array of User (per_page, page)'], async (context) =>
  (await context.anonymous.get(`${(await watched(context)).path}/subscribers`)).is(200).matches(listOf(user)).items(),
)

watching.check('subscribers.pages', subscribers, ['200 array of User (per_page, page)'], async (context) => {
  const caller = context.other()
  const repo = await watched(context)
  ;(await caller.put(`${repo.path}/subscription`, { subscribed: true })).prepares()
  const answer = (await context.me.get(`${repo.path}/subscribers?per_page=1`)).is(200)
  answer.equals('the number of users', answer.list().length, 1)
  const second = (await context.me.get(`${repo.path}/subscribers?per_page=1&page=2`)).is(200)
  second.equals('the number of users', second.list().length, 1)
  second.must(second.list()[0]?.login !== answer.list()[0]?.login, 'another user on the second page', second.list()[0]?.login)
})

watching.check('subscribers.unknown', subscribers, ['resource not found.'], async ({ me, workspace }) =>
  (await me.get(`/repos/${workspace.name('none')}/${workspace.name('none')}/subscribers`)).is(404),
)

watching.check('subscription.get', subscription, ['path params owner, repo, and accept only.'], async (context) => {
  const repo = await watched(context)
  // The specification does not show the fields.
  ;(await context.me.get(`${repo.path}/subscription`)).is(200).row()
})

watching.check('subscription.none', subscription, ['path params owner, repo, and accept only.'], async ({ other, workspace }) => {
  const caller = other()
  ;(await caller.get(`${(await workspace.hookRepo()).path}/subscription`)).is(404)
})

watching.check('subscription.anonymous', subscription, ['authentication required.'], async ({ anonymous, workspace }) =>
  (await anonymous.get(`${(await workspace.shared()).path}/subscription`)).is(401, 404),
)
