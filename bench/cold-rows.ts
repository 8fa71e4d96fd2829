import { people, type SeededRepository, seeded, stargazersOf, tokenOf, watchersOf } from './cold-seed.ts'

/** A request, and who sends it. */
export interface Call {
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  token: string | undefined
  body?: object
}

export interface Asked {
  person: string
  repo: SeededRepository
}

export interface Row {
  name: string
  /** Milliseconds of processor time for a request, of Node and PostgreSQL together. */
  target?: number
  /** A page is read anew, a poll is answered with 304, a write includes the jobs that it causes. */
  kind: 'page' | 'poll' | 'write'
  /** The repositories over which the requests of a round are spread. */
  among: SeededRepository[]
  /** How many requests are sent at a time, for all of these repositories; otherwise one, for 50 of them. */
  at_once?: number
  call(asked: Asked, state: Changing): Call | Call[]
}

const shown = seeded.filter(({ number, private: hidden }) => !hidden && number <= 180)
const popular = seeded.filter(({ stars }) => stars > 30)
const eleven = seeded.filter(({ watchers, by }) => watchers === 11 && by === 'people')
const crowded = seeded.filter(({ watchers }) => watchers === 100)
/** For writes that change nothing that a person sees. */
const elsewhere = seeded.filter(({ by }) => by === 'readers')
const ofOrganizations = shown.filter(({ owner }) => owner.startsWith('org-')).slice(0, people)

const get = (path: string, person?: string): Call => ({ method: 'GET', path, token: person && tokenOf(person) })
const pathOf = ({ owner, number }: SeededRepository) => `/repos/${owner}/repo-${number}`

/** What the writes of a run change, so that every write changes something. */
export class Changing {
  /** Unread threads by login, oldest first. */
  readonly threads: Map<string, number[]>
  readonly #starred = new Set(seeded.flatMap((repo) => stargazersOf(repo).map((login) => `${login} ${repo.number}`)))
  #texts = 0

  constructor(threads: Map<string, number[]>) {
    this.threads = threads
  }

  star({ person, repo }: Asked): Call {
    const key = `${person} ${repo.number}`
    const starred = this.#starred.delete(key)
    if (!starred) this.#starred.add(key)
    return { method: starred ? 'DELETE' : 'PUT', path: `/user/starred/${repo.owner}/repo-${repo.number}`, token: tokenOf(person) }
  }

  mark({ person }: Asked): Call {
    const thread = this.threads.get(person)?.shift()
    return { method: 'PATCH', path: `/notifications/threads/${thread}`, token: tokenOf(person) }
  }

  comment({ person, repo }: Asked): Call {
    const text = ++this.#texts
    const path = `${pathOf(repo)}/issues/${(text % 10) + 1}/comments`
    return { method: 'POST', path, token: tokenOf(person), body: { body: `It still rings twice, for the ${text}. time.` } }
  }

  issue({ person, repo }: Asked): Call {
    const body = { title: `The rope frays (${++this.#texts})`, body: 'Two strands of the third rope are broken. Do not ring it.' }
    return { method: 'POST', path: `${pathOf(repo)}/issues`, token: tokenOf(person), body }
  }
}

/** One who does not watch the repository, so that every watcher is notified. */
function stranger({ person, repo }: Asked): Asked {
  const watching = new Set(watchersOf(repo))
  const [kind, first] = person.split('-')
  const all = Array.from({ length: people }, (_, step) => `${kind}-${((Number(first) + step) % people) + 1}`)
  return { person: all.find((each) => !watching.has(each)) ?? person, repo }
}

const events = (repo: SeededRepository) => `${pathOf(repo)}/events`
const notifications = '/notifications?per_page=30'

export const rows: Row[] = [
  // Reads nothing: what every request costs at least.
  { name: '`GET {base}/`', kind: 'page', among: shown, call: () => get('/') },
  { name: '`GET /user`', kind: 'page', among: shown, call: ({ person }) => get('/user', person) },
  { name: 'repository', kind: 'page', target: 0.4, among: shown, call: ({ person, repo }) => get(pathOf(repo), person) },
  { name: 'repository, anonymous', kind: 'page', target: 0.4, among: shown, call: ({ repo }) => get(pathOf(repo)) },
  { name: 'starred (30)', kind: 'page', target: 2, among: shown, call: ({ person }) => get('/user/starred?per_page=30', person) },
  {
    ...{ name: 'subscribers (30)', kind: 'page', target: 0.7, among: popular },
    call: ({ person, repo }) => get(`${pathOf(repo)}/subscribers?per_page=30`, person),
  },
  {
    ...{ name: 'stargazers (30)', kind: 'page', target: 0.7, among: popular },
    call: ({ person, repo }) => get(`${pathOf(repo)}/stargazers?per_page=30`, person),
  },
  { name: 'notifications (30)', kind: 'page', target: 3, among: shown, call: ({ person }) => get(notifications, person) },
  {
    name: 'events of a repository',
    kind: 'page',
    target: 2,
    among: shown,
    call: ({ person, repo }) => get(events(repo), person),
  },
  { name: 'events of a repository, anonymous', kind: 'page', target: 2, among: shown, call: ({ repo }) => get(events(repo)) },
  {
    name: 'events of a user',
    kind: 'page',
    target: 2,
    among: shown,
    call: ({ person }) => get(`/users/${person}/events`, person),
  },
  {
    ...{ name: 'events of an organization', kind: 'page', target: 2, among: ofOrganizations },
    call: ({ person, repo }) => get(`/orgs/${repo.owner}/events`, person),
  },
  {
    ...{ name: 'received events', kind: 'page', target: 2, among: shown },
    call: ({ person }) => get(`/users/${person}/received_events`, person),
  },
  {
    ...{ name: 'events of a repository, 304', kind: 'poll', target: 0.3, among: shown },
    call: ({ person, repo }) => get(events(repo), person),
  },
  {
    ...{ name: 'received events, 304', kind: 'poll', target: 0.3, among: shown },
    call: ({ person }) => get(`/users/${person}/received_events`, person),
  },
  {
    // What polls cost a busy server, which wakes up once for several of them. 10,000 people with 10 polls a minute each make 1,667 a second;
    // a quarter of a core is 0.15 ms for each.
    ...{ name: 'events of a repository, 304, 32 at a time', kind: 'poll', target: 0.15, among: shown, at_once: 32 },
    call: ({ person, repo }) => get(events(repo), person),
  },
  { name: 'notifications, 304', kind: 'poll', target: 0.3, among: shown, call: ({ person }) => get(notifications, person) },
  {
    name: 'star and unstar',
    kind: 'write',
    target: 1.5,
    among: shown,
    call: (asked, state) => [state.star(asked), state.star(asked)],
  },
  { name: 'mark a thread as read', kind: 'write', target: 1.5, among: shown, call: (asked, state) => state.mark(asked) },
  { name: 'issue, 11 watchers', kind: 'write', target: 5, among: eleven, call: (asked, state) => state.issue(stranger(asked)) },
  // Everybody watches this one, so the author is not notified: 99 threads.
  { name: 'issue, 100 watchers', kind: 'write', among: crowded, call: (asked, state) => state.issue(asked) },
  {
    name: 'comment, 11 watchers',
    kind: 'write',
    target: 5,
    among: eleven,
    call: (asked, state) => state.comment(stranger(asked)),
  },
]

/** What a round asks for: each address once, by as many people as there are. */
export function askedIn(round: number, { among, at_once }: Row): Asked[] {
  const most = at_once ? among.length : people
  return Array.from({ length: Math.min(most, Math.max(among.length, 10)) }, (_, index) => {
    const repo = among[(round * people + index) % among.length]
    if (!repo) throw new Error('the seed has no repository for this row')
    return { person: `person-${(index % people) + 1}`, repo }
  })
}

/** Writes to what a round asks for: a star each, and for each fourth a comment, which notifies watchers, and a mark. */
export const writesTo = (asked: Asked[], state: Changing): Call[] =>
  asked.flatMap((each, index) => [
    state.star(each),
    ...(index % 4 === 1 ? [state.comment(each)] : []),
    ...(index % 4 === 3 ? [state.mark(each)] : []),
  ])

/** The same for readers, in repositories that no person watches. */
export const askedElsewhere = (): Asked[] =>
  Array.from({ length: people }, (_, index) => ({
    person: `reader-${index + 1}`,
    repo: elsewhere[index % elsewhere.length] as SeededRepository,
  }))
