import { at, type Row, Skip } from '../answer.ts'
import { type Context, Part } from '../check.ts'
import { event } from '../resources.ts'
import { listOf } from '../shape.ts'

export const events = new Part('Event timelines')

/** Where a timeline is, and the words that the specification has for it. */
interface Timeline {
  id: string
  operation: string
  words: string
  path(context: Context): Promise<string>
}

const user = async ({ target }: Context, rest: string) => `/users/${target.login}${rest}`
const shared = async ({ workspace }: Context) => (await workspace.shared()).full_name

async function organization({ me, workspace }: Context): Promise<string> {
  return workspace.once('organization', async () => {
    const login = (await me.get('/user/orgs')).is(200).list()[0]?.login
    if (typeof login !== 'string') throw new Skip('The user of --token belongs to no organization.')
    return login
  })
}

const timelines: Timeline[] = [
  { id: 'public', operation: 'GET /events', words: 'public events. Delayed.', path: async () => '/events' },
  {
    id: 'network',
    operation: 'GET /networks/{owner}/{repo}/events',
    words: 'public events of a repository network',
    path: async (context) => `/networks/${await shared(context)}/events`,
  },
  {
    id: 'organization',
    operation: 'GET /orgs/{org}/events',
    words: 'public organization events',
    path: async (context) => `/orgs/${await organization(context)}/events`,
  },
  {
    id: 'repository',
    operation: 'GET /repos/{owner}/{repo}/events',
    words: 'usable without authentication for public resources',
    path: async (context) => `/repos/${await shared(context)}/events`,
  },
  {
    id: 'user',
    operation: 'GET /users/{username}/events',
    words: 'private events appear when authenticated as that user, otherwise public only',
    path: (context) => user(context, '/events'),
  },
  {
    id: 'dashboard',
    operation: 'GET /users/{username}/events/orgs/{org}',
    words: "the user's organization dashboard. Must be authenticated as that user.",
    path: async (context) => user(context, `/events/orgs/${await organization(context)}`),
  },
  {
    id: 'user-public',
    operation: 'GET /users/{username}/events/public',
    words: '/users/{username}/events/public | username | 200',
    path: (context) => user(context, '/events/public'),
  },
  {
    id: 'received',
    operation: 'GET /users/{username}/received_events',
    words: 'events from watched repositories and followed users. Private ones only when authenticated as that user.',
    path: (context) => user(context, '/received_events'),
  },
  {
    id: 'received-public',
    operation: 'GET /users/{username}/received_events/public',
    words: '/users/{username}/received_events/public | username | 200',
    path: (context) => user(context, '/received_events/public'),
  },
]

const carries = 'responses carry ETag (a quoted value; the quotes are part of the value) and X-Poll-Interval (seconds)'
const unchanged =
  'A request with If-None-Match set to the exact quoted ETag returns 304 when there is nothing new, with X-Poll-Interval present.'
const quoted = /^(W\/)?"[^"]*"$/
const seconds = /^\d+$/

for (const { id, operation, words, path } of timelines) {
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
      const answer = (await context.me.get(await path(context))).is(200).matches(listOf(event))
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
    ;(await me.patch(repo.path, { name: `${repo.name}-renamed` })).is(200)
    const answer = (await me.get(`/networks/${repo.full_name}/events`)).is(301)
    ;(await me.get(answer.header('location'))).is(200).matches(listOf(event))
  },
)

events.check(
  'events.repository.anonymous',
  'GET /repos/{owner}/{repo}/events',
  ['usable without authentication for public resources', 'Public event endpoints need no permission.'],
  async (context) => {
    const path = `/repos/${await shared(context)}/events`
    ;(await context.nobody.get(path)).is(200).matches(listOf(event))
  },
)

events.check(
  'events.user.private',
  'GET /users/{username}/events',
  ['private events appear when authenticated as that user, otherwise public only', 'false for private events'],
  async ({ me, nobody, target, workspace }) => {
    const repo = await workspace.privateRepo()
    const path = `/users/${target.login}/events`
    const isOf = (row: Row) => at(row, 'repo.name') === repo.full_name
    const own = await me.until(path, `an event of ${repo.full_name}`, (list) => list.is(200).list().some(isOf))
    own.equals('public', own.list().find(isOf)?.public, false)
    const seen = (await nobody.get(path)).is(200)
    seen.must(
      seen.list().every((row) => row.public === true),
      'public events only',
      seen.list().map((row) => row.public),
    )
  },
)

const publicOnly: [id: string, rest: string, words: string][] = [
  ['user-public', '/events/public', '/users/{username}/events/public | username | 200'],
  ['received', '/received_events', 'Private ones only when authenticated as that user.'],
  ['received-public', '/received_events/public', '/users/{username}/received_events/public | username | 200'],
]
for (const [id, rest, words] of publicOnly)
  events.check(`events.${id}.public-only`, `GET /users/{username}${rest}`, [words], async ({ me, nobody, target, workspace }) => {
    await workspace.privateRepo()
    const answer = (await (id === 'received' ? nobody : me).get(`/users/${target.login}${rest}`)).is(200)
    answer.must(
      answer.list().every((row) => row.public === true),
      'public events only',
      answer.list().map((row) => row.public),
    )
  })

events.check(
  'events.dashboard.other',
  'GET /users/{username}/events/orgs/{org}',
  ['Must be authenticated as that user.'],
  async (context) => {
    const org = await organization(context)
    ;(await context.nobody.get(`/users/${context.target.login}/events/orgs/${org}`)).is(401, 403, 404)
  },
)

events.check(
  'events.organization.org',
  'GET /orgs/{org}/events',
  ['present on organization timelines. Fields: id integer, login string, gravatar_id string, url string, avatar_url string'],
  async (context) => {
    const org = await organization(context)
    const answer = (await context.me.get(`/orgs/${org}/events`)).is(200).matches(listOf(event))
    answer.must(
      answer.list().every((row) => at(row, 'org.login') === org),
      `org.login ${org} in each event`,
      answer.list().map((row) => row.org),
    )
  },
)

events.check(
  'events.received.watched',
  'GET /users/{username}/received_events',
  ['events from watched repositories and followed users.'],
  async ({ me, other, target, workspace }) => {
    const caller = other()
    const repo = await workspace.repo()
    if ((await me.put(`${repo.path}/subscription`, { subscribed: true })).status !== 200)
      throw new Skip('The server cannot watch a repository.')
    ;(await caller.put(`/user/starred/${repo.full_name}`)).is(204)
    const isStar = (row: Row) => row.type === 'WatchEvent' && at(row, 'repo.name') === repo.full_name
    await me.until(`/users/${target.login}/received_events`, 'the star of the other user', (list) =>
      list.is(200).list().some(isStar),
    )
  },
)
