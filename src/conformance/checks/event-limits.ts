import { type Answer, Skip } from '../answer.ts'
import type { Context } from '../check.ts'
import { events } from './events.ts'

const timeline = async (context: Context, query = '') =>
  (await context.me.get(`${(await context.workspace.shared()).path}/events${query}`)).is(200)

const count = (answer: Answer) => answer.list().length

/** A page that must be full. A shorter one without a next page proves nothing. */
function hasSize(answer: Answer, size: number) {
  if (count(answer) < size && !answer.link('next'))
    throw new Skip(`The timeline has fewer than ${size} events, so the size of a page cannot be seen.`)
  answer.equals('the number of events', count(answer), size)
}

events.check(
  'events.page-size.fixed',
  'GET /users/{username}/events',
  ['per_page not supported; fixed page size 30; up to ten pages (300 events); only events from the last 90 days'],
  async (context) => {
    const answer = await timeline(context, '?per_page=1')
    answer.must(count(answer) > 1, 'per_page to be ignored', `${count(answer)} event`)
    const { me, target } = context
    for (const query of ['', '?per_page=1', '?per_page=100'])
      hasSize((await me.get(`/users/${target.login}/events${query}`)).is(200), 30)
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
    second.equals('the number of events', count(second), 1)
    second.must(second.list()[0]?.id !== answer.list()[0]?.id, 'another event on the second page', second.list()[0]?.id)
  },
  { variant: 'versioned' },
)

events.check(
  'events.public.page-size',
  'GET /events',
  ['30 for most lists; 15 for GET /events; 30 for webhook deliveries'],
  async ({ me }) => hasSize((await me.get('/events')).is(200), 15),
  { variant: 'versioned' },
)

for (const path of ['/events', '/users/{username}/events'] as const)
  events.check(
    `events${path === '/events' ? '.public' : '.user'}.page-size.largest`,
    `GET ${path}`,
    ['per_page maximum | 100'],
    async ({ me, target }) => hasSize((await me.get(`${path.replace('{username}', target.login)}?per_page=1000`)).is(200), 100),
    { variant: 'versioned' },
  )

events.check('events.page.default', 'GET /repos/{owner}/{repo}/events', ['page default | 1'], async (context) => {
  const [plain, first] = [await timeline(context), await timeline(context, '?page=1')]
  first.equals('the first event', first.items()[0]?.id, plain.items()[0]?.id)
})

events.check(
  'events.most',
  'GET /users/{username}/events',
  ['up to 300 events; only events from the last 30 days', 'up to ten pages (300 events)'],
  async ({ me, target }) => {
    const [last, size, more] = target.variant === 'versioned' ? [3, 100, '&per_page=100'] : [10, 30, '']
    const page = (number: number) => me.get(`/users/${target.login}/events?page=${number}${more}`)
    const full = (await page(last)).is(200)
    if (count(full) < size) throw new Skip(`The timeline of ${target.login} has fewer than 300 events.`)
    full.must(!full.link('next'), 'no next page after 300 events', full.link('next'))
    const answer = (await page(last + 1)).is(200, 422)
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
  async ({ me, target, workspace }) => {
    await workspace.shared()
    const most = days[target.variant]
    for (const login of [target.login, ...(target.other ? [target.other.login] : [])]) {
      // The oldest come last.
      let next: string | undefined = `/users/${login}/events`
      for (let page = 1; next && page <= 10; page++) {
        const answer: Answer = (await me.get(next)).is(200)
        if (page === 1 && login === target.login) answer.items()
        // A minute for a response that was made before its date.
        answer.must(
          ages(answer).every((age) => age <= most * 86_400 + 60),
          `no event older than ${most} days`,
          ages(answer),
        )
        next = answer.link('next')
      }
    }
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
    if (before === null) throw new Skip('The server does not say how much of a rate limit is left.')
    again.equals('X-RateLimit-Remaining', again.headers.get('x-ratelimit-remaining'), before)
  },
  { alone: true },
)
