import { at, type Row, Skip } from '../answer.ts'
import { type Context, Part } from '../check.ts'
import { event } from '../resources.ts'
import { listOf } from '../shape.ts'
import { organization, organizationRepo, watchedAndStarred } from './timeline-sources.ts'

export const events = new Part('Event timelines')

/** Where a timeline is, and the words that the specification has for it. */
interface Timeline {
  id: string
  operation: string
  words: string
  path(context: Context): Promise<string>
  /** What each of its events has in common, as a sentence and a rule. */
  each?(context: Context): Promise<[expected: string, holds: (row: Row) => boolean]>
}

const user = async ({ target }: Context, rest: string) => `/users/${target.login}${rest}`
const shared = async ({ workspace }: Context) => (await workspace.shared()).full_name

const ofShared: Timeline['each'] = async (context) => {
  const name = await shared(context)
  return [`events of ${name}`, (row) => at(row, 'repo.name') === name]
}
const ofOrganization: Timeline['each'] = async (context) => {
  await organizationRepo(context)
  const org = await organization(context)
  return [`org.login ${org} in each event`, (row) => at(row, 'org.login') === org]
}
const ofUser: Timeline['each'] = async ({ target, workspace }) => {
  await workspace.shared()
  return [`events of ${target.login}`, (row) => at(row, 'actor.login') === target.login]
}
const received: Timeline['each'] = async (context) => {
  await watchedAndStarred(context)
  return ['events', () => true]
}

const timelines: Timeline[] = [
  { id: 'public', operation: 'GET /events', words: 'public events. Delayed.', path: async () => '/events' },
  {
    id: 'network',
    operation: 'GET /networks/{owner}/{repo}/events',
    words: 'public events of a repository network',
    path: async (context) => `/networks/${await shared(context)}/events`,
    each: ofShared,
  },
  {
    id: 'organization',
    operation: 'GET /orgs/{org}/events',
    words: 'public organization events',
    path: async (context) => `/orgs/${await organization(context)}/events`,
    each: ofOrganization,
  },
  {
    id: 'repository',
    operation: 'GET /repos/{owner}/{repo}/events',
    words: 'usable without authentication for public resources',
    path: async (context) => `/repos/${await shared(context)}/events`,
    each: ofShared,
  },
  {
    id: 'user',
    operation: 'GET /users/{username}/events',
    words: 'private events appear when authenticated as that user, otherwise public only',
    path: (context) => user(context, '/events'),
    each: ofUser,
  },
  {
    id: 'dashboard',
    operation: 'GET /users/{username}/events/orgs/{org}',
    words: "the user's organization dashboard. Must be authenticated as that user.",
    path: async (context) => user(context, `/events/orgs/${await organization(context)}`),
    each: ofOrganization,
  },
  {
    id: 'user-public',
    operation: 'GET /users/{username}/events/public',
    words: '/users/{username}/events/public | username | 200',
    path: (context) => user(context, '/events/public'),
    each: ofUser,
  },
  {
    id: 'received',
    operation: 'GET /users/{username}/received_events',
    words: 'events from watched repositories and followed users. Private ones only when authenticated as that user.',
    path: (context) => user(context, '/received_events'),
    each: received,
  },
  {
    id: 'received-public',
    operation: 'GET /users/{username}/received_events/public',
    words: '/users/{username}/received_events/public | username | 200',
    path: (context) => user(context, '/received_events/public'),
    each: received,
  },
]

const carries = 'responses carry ETag (a quoted value; the quotes are part of the value) and X-Poll-Interval (seconds)'
const unchanged =
  'A request with If-None-Match set to the exact quoted ETag returns 304 when there is nothing new, with X-Poll-Interval present.'
const quoted = /^(W\/)?"[^"]*"$/
const seconds = /^\d+$/

for (const { id, operation, words, path, each } of timelines) {
  events.check(
    `events.${id}`,
    operation,
    [
      'id | string | event identifier',
      'fields: id integer, login string, display_login string, gravatar_id string, url string, avatar_url string',
      'payload | object | depends on type, see below',
      'created_at | string | timestamp',
      'It exposes read-only event timelines',
      'They are returned as Event objects.',
      words,
      'Event timelines (all GET, 200 returns an array of Event)',
    ],
    async (context) => {
      const rule = await each?.(context)
      const answer = (await context.me.get(await path(context))).is(200).matches(listOf(event))
      if (rule) answer.each(...rule)
      else if (answer.list().length === 0) throw new Skip('No public event of the server is old enough to be shown.')
      const dates = answer.list().map((row) => Date.parse(`${row.created_at}`))
      answer.must(
        dates.every((date, index) => index === 0 || date <= (dates[index - 1] ?? 0)),
        'the newest event first',
        dates,
      )
    },
  )

  events.check(
    `events.${id}.polling`,
    operation,
    [
      carries,
      unchanged,
      'not modified. The rate limit is not consumed. Returned for conditional requests and most authenticated GETs.',
    ],
    async (context) => {
      const address = await path(context)
      // Late jobs of earlier checks may add events, so a response that differs is compared again.
      for (let attempt = 0; ; attempt++) {
        const answer = (await context.me.get(address)).is(200)
        const etag = answer.header('etag', quoted)
        answer.header('x-poll-interval', seconds)
        const again = await context.me.get(address, { 'if-none-match': etag })
        if (again.status === 200 && again.text !== answer.text && attempt < 10) continue
        again.is(304).empty().header('x-poll-interval', seconds)
        ;(await context.me.get(address, { 'if-none-match': '"of-another-response"' })).is(200)
        return
      }
    },
    { alone: true },
  )
}

events.check(
  'events.accept',
  'GET /events',
  ['Every endpoint accepts an optional header accept (string).'],
  async ({ me, target }) => {
    const kind = target.variant === 'versioned' ? 'application/vnd.service+json' : 'application/vnd.service.v3+json'
    ;(await me.get('/events', { accept: kind })).is(200).header('content-type', /^application\/json/)
  },
)

const unknown: [id: string, operation: string, path: (name: string) => string][] = [
  ['network', 'GET /networks/{owner}/{repo}/events', (name) => `/networks/${name}/${name}/events`],
  ['organization', 'GET /orgs/{org}/events', (name) => `/orgs/${name}/events`],
  ['repository', 'GET /repos/{owner}/{repo}/events', (name) => `/repos/${name}/${name}/events`],
  ['user', 'GET /users/{username}/events', (name) => `/users/${name}/events`],
]
for (const [id, operation, path] of unknown)
  events.check(`events.${id}.unknown`, operation, ['resource not found.'], async ({ me, workspace }) =>
    (await me.get(path(workspace.name('none')))).is(404),
  )

events.check(
  'events.network.moved',
  'GET /networks/{owner}/{repo}/events',
  ['moved permanently (network events)', '200, 301, 304, 403, 404'],
  async ({ me, workspace }) => {
    const repo = await workspace.repo()
    workspace.deleteLater(`repository ${repo.full_name}-renamed`, `${repo.path}-renamed`)
    ;(await me.patch(repo.path, { name: `${repo.name}-renamed` })).prepares()
    const answer = (await me.get(`/networks/${repo.full_name}/events`)).is(301)
    const name = `${repo.full_name}-renamed`
    ;(await me.get(answer.header('location')))
      .is(200)
      .matches(listOf(event))
      .each(`events of ${name}`, (row) => at(row, 'repo.name') === name)
  },
)

events.check(
  'events.repository.anonymous',
  'GET /repos/{owner}/{repo}/events',
  ['usable without authentication for public resources', 'Public event endpoints need no permission.'],
  async (context) => {
    const path = `/repos/${await shared(context)}/events`
    const answer = (await context.anonymous.get(path)).is(200).matches(listOf(event))
    answer.each('public events', (row) => row.public === true)
  },
)

events.check(
  'events.user.private',
  'GET /users/{username}/events',
  ['private events appear when authenticated as that user, otherwise public only', 'false for private events'],
  async ({ me, anonymous, target, workspace }) => {
    const repo = await workspace.privateRepo()
    const path = `/users/${target.login}/events`
    const isOf = (row: Row) => at(row, 'repo.name') === repo.full_name
    const own = await me.until(path, `an event of ${repo.full_name}`, (list) => list.is(200).list().some(isOf))
    own.equals('public', own.list().find(isOf)?.public, false)
    await workspace.shared()
    const seen = (await anonymous.get(path)).is(200)
    seen.each('public events only', (row) => row.public === true && !isOf(row))
  },
)

const publicOnly: [id: string, rest: string, words: string][] = [
  ['user-public', '/events/public', '/users/{username}/events/public | username | 200'],
  ['received', '/received_events', 'Private ones only when authenticated as that user.'],
  ['received-public', '/received_events/public', '/users/{username}/received_events/public | username | 200'],
]
for (const [id, rest, words] of publicOnly)
  events.check(`events.${id}.public-only`, `GET /users/{username}${rest}`, [words], async (context) => {
    const { me, anonymous, target, workspace } = context
    if (id === 'user-public') await workspace.shared()
    else await watchedAndStarred(context)
    await workspace.privateRepo()
    const answer = (await (id === 'received' ? anonymous : me).get(`/users/${target.login}${rest}`)).is(200)
    answer.each('public events only', (row) => row.public === true)
  })

events.check(
  'events.dashboard.other',
  'GET /users/{username}/events/orgs/{org}',
  ['Must be authenticated as that user.'],
  async (context) => {
    const org = await organization(context)
    ;(await context.anonymous.get(`/users/${context.target.login}/events/orgs/${org}`)).is(401, 403, 404)
  },
)

events.check(
  'events.organization.org',
  'GET /orgs/{org}/events',
  ['present on organization timelines. Fields: id integer, login string, gravatar_id string, url string, avatar_url string'],
  async (context) => {
    const { full_name } = await organizationRepo(context)
    const org = await organization(context)
    const isOf = (row: Row) => at(row, 'repo.name') === full_name
    const answer = await context.me.until(`/orgs/${org}/events`, `an event of ${full_name}`, (list) =>
      list.is(200).matches(listOf(event)).list().some(isOf),
    )
    answer.each(`org.login ${org} in each event`, (row) => at(row, 'org.login') === org)
  },
)

events.check(
  'events.received.watched',
  'GET /users/{username}/received_events',
  ['events from watched repositories and followed users.'],
  watchedAndStarred,
)
