import type { Answer } from '../answer.ts'
import type { Context } from '../check.ts'
import { events } from './events.ts'

const timeline = async (context: Context, query = '') =>
  (await context.me.get(`${(await context.workspace.shared()).path}/events${query}`)).is(200)

const count = (answer: Answer) => answer.list().length

events.check(
  'events.page-size.fixed',
  'GET /repos/{owner}/{repo}/events',
  ['per_page not supported; fixed page size 30; up to ten pages (300 events); only events from the last 90 days'],
  async (context) => {
    const answer = await timeline(context, '?per_page=1')
    answer.must(count(answer) > 1, 'per_page to be ignored', `${count(answer)} event`)
  },
  { variant: 'self-hosted' },
)

events.check(
  'events.page-size.chosen',
  'GET /repos/{owner}/{repo}/events',
  ['Every list endpoint takes query per_page (integer) and page (integer) unless stated.'],
  async (context) => {
    const answer = await timeline(context, '?per_page=1')
    answer.equals('the number of events', count(answer), 1)
    const second = await timeline(context, '?per_page=1&page=2')
    second.must(second.list()[0]?.id !== answer.list()[0]?.id, 'another event on the second page', second.list()[0]?.id)
  },
  { variant: 'versioned' },
)

events.check(
  'events.public.page-size',
  'GET /events',
  ['30 for most lists; 15 for GET /events; 30 for webhook deliveries'],
  async ({ me }) => {
    const answer = (await me.get('/events')).is(200)
    answer.must(count(answer) <= 15, 'at most 15 events', `${count(answer)} events`)
  },
  { variant: 'versioned' },
)

for (const path of ['/events', '/users/{username}/events'] as const)
  events.check(
    `events${path === '/events' ? '.public' : '.user'}.page-size.largest`,
    `GET ${path}`,
    ['per_page maximum | 100'],
    async ({ me, target }) => {
      const answer = (await me.get(`${path.replace('{username}', target.login)}?per_page=1000`)).is(200)
      answer.must(count(answer) <= 100, 'at most 100 events', `${count(answer)} events`)
    },
  )

events.check('events.page.default', 'GET /repos/{owner}/{repo}/events', ['page default | 1'], async (context) => {
  const [plain, first] = [await timeline(context), await timeline(context, '?page=1')]
  first.equals('the first event', first.list()[0]?.id, plain.list()[0]?.id)
})

events.check(
  'events.most',
  'GET /users/{username}/events',
  ['up to 300 events; only events from the last 30 days', 'up to ten pages (300 events)'],
  async ({ me, target }) => {
    const size = target.variant === 'versioned' ? 'per_page=100&page=4' : 'page=11'
    const answer = (await me.get(`/users/${target.login}/events?${size}`)).is(200, 422)
    if (answer.status === 200) answer.equals('the events after the first 300', answer.list(), [])
  },
)

/** By the clock of the server, which may differ from ours. */
const ages = (answer: Answer) => {
  const now = Date.parse(answer.header('date'))
  return answer.list().map((row) => (now - Date.parse(`${row.created_at}`)) / 1000)
}

const days = { 'self-hosted': 90, versioned: 30 }
events.check(
  'events.days',
  'GET /users/{username}/events',
  ['only events from the last 30 days', 'only events from the last 90 days'],
  async ({ me, target }) => {
    const answer = (await me.get(`/users/${target.login}/events`)).is(200)
    const most = days[target.variant]
    // A minute for a response that was made before its date.
    answer.must(
      ages(answer).every((age) => age <= most * 86_400 + 60),
      `no event older than ${most} days`,
      ages(answer),
    )
  },
)

const delays = { 'self-hosted': 300, versioned: 30 }
events.check(
  'events.public.delay',
  'GET /events',
  [
    'self-hosted variant: at least five minutes; versioned variant: latency from 30 seconds to 6 hours, and not for real-time use',
    'public events. Delayed.',
  ],
  async ({ me, target, workspace }) => {
    await workspace.shared()
    const answer = (await me.get('/events')).is(200)
    const least = delays[target.variant]
    answer.must(
      ages(answer).every((age) => age >= least - 1),
      `no event younger than ${least} s`,
      ages(answer),
    )
  },
)

events.check(
  'events.not-modified.free',
  'GET /repos/{owner}/{repo}/events',
  ['Conditional requests answered 304 | do not consume the rate limit', 'The rate limit is not consumed.'],
  async (context) => {
    const answer = await timeline(context)
    const before = answer.headers.get('x-ratelimit-remaining')
    const { path } = await context.workspace.shared()
    const again = (await context.me.get(`${path}/events`, { 'if-none-match': answer.header('etag') })).is(304)
    if (before !== null) again.equals('X-RateLimit-Remaining', again.headers.get('x-ratelimit-remaining'), before)
  },
  { alone: true },
)
