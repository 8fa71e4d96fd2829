import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, expect, type Forge, openForge } from '#test/forge.ts'
import { until } from '#test/machine.ts'
import { changeTeam, collaborate, joinOrLeave } from './access-acts.ts'
import {
  create,
  createSomewhere,
  deleteSomething,
  followSomeone,
  forkSomething,
  publishOrHide,
  pushSomething,
  releaseSomething,
  renameSomething,
  starSomething,
  suspendSomeone,
  transferSomething,
  watchSomething,
} from './acts.ts'
import { Crowd, logins, seeded } from './crowd.ts'
import { pull, tell } from './model.ts'
import { type Told, type Variant, variants } from './variants.ts'

interface Extent {
  seed: number
  acts: number
  /** How many timelines each viewer reads at the end; without it, all. */
  timelines?: number
}

/** Compares what is shown of random acts with the model. `MODEL_SEED=4711` names another seed for the slow test. */
export function testRandomActs({ seed, acts, timelines }: Extent) {
  test(`random acts are seen in every timeline by those who may see them, and by nobody else (seed ${seed})`, async () => {
    await using forge = await openForge()
    const random = seeded(seed)
    const crowd = new Crowd(forge, random)
    await gather(crowd)
    for (let done = 0; done < acts; done++) {
      await act(crowd)
      for (let look = 0; look < 3; look++) {
        const [viewer, variant] = [crowd.pick(viewersOf(crowd)), crowd.pick(variants)]
        const path = crowd.pick(timelinesOf(crowd))
        const ids = await compare(forge, crowd, path, viewer, variant)
        if (ids.length) await compareAfter(clientOf(forge, crowd, viewer, variant), path, ids, crowd.pick(ids))
      }
    }
    for (const viewer of viewersOf(crowd)) {
      const all = timelinesOf(crowd)
      const some = timelines ? Array.from({ length: timelines }, () => crowd.pick(all)) : all
      for (const path of some) await compare(forge, crowd, path, viewer, crowd.pick(variants))
    }
    for (const variant of variants) {
      forge.clock.advance(variant.delay)
      crowd.world.now += variant.delay
      await compare(forge, crowd, '/events', null, variant)
    }
    await compareCounts(crowd)
  })
}

/** Brings them together: two organizations, and a repository each. */
async function gather(crowd: Crowd) {
  for (const login of logins) crowd.people.set(login, await crowd.forge.person(login))
  // In one of them only its team leads to what is private.
  for (const [login, owner, everyones, access] of [
    ['acme', 'ada', 'read', pull],
    ['apex', 'ben', 'none', 0],
  ] as const) {
    const person = crowd.person(owner)
    await crowd.forge.organization(login, person)
    await expect(201, await person.post(`/orgs/${login}/teams`, { name: 'crew' }))
    await expect(200, await person.patch(`/orgs/${login}`, { default_repository_permission: everyones }))
    await expect(200, await person.put(`/orgs/${login}/memberships/cy`))
    await expect(200, await person.put(`/orgs/${login}/teams/crew/memberships/dee`))
    const crew = { members: new Set([owner, 'dee']), repos: new Map<number, number>() }
    const members = new Map([[owner, 'admin'] as const, ['cy', 'member'] as const, ['dee', 'member'] as const])
    crowd.world.orgs.set(login, { members, access, crew })
    const repo = await create(crowd, owner, login, { private: true, auto_init: true })
    await expect(204, await person.put(`/orgs/${login}/teams/crew/repos/${login}/${repo?.name}`))
    if (repo) crew.repos.set(repo.id, pull)
  }
  for (const login of logins) await create(crowd, login, login, { private: false, auto_init: true })
}

/** Something, by someone. */
async function act(crowd: Crowd) {
  const acts = [
    [5, createSomewhere],
    [6, pushSomething],
    [6, starSomething],
    [4, forkSomething],
    [4, followSomeone],
    [5, watchSomething],
    [5, publishOrHide],
    [2, renameSomething],
    [3, transferSomething],
    [2, deleteSomething],
    [2, suspendSomeone],
    [5, collaborate],
    [5, joinOrLeave],
    [6, changeTeam],
    [5, releaseSomething],
  ] as const
  const all = acts.flatMap(([weight, one]) => Array<(crowd: Crowd) => Promise<unknown>>(weight).fill(one))
  crowd.forge.clock.advance(1000)
  crowd.world.now += 1000
  await crowd.pick(all)(crowd)
}

const viewersOf = ({ world }: Crowd) => [null, ...world.people.filter((who) => !world.suspended.has(who))]

function timelinesOf({ world }: Crowd) {
  const repos = [...world.repos.values()].flatMap(({ owner, name }) =>
    ['repos', 'networks'].map((kind) => `/${kind}/${owner}/${name}/events`),
  )
  const users = world.people.flatMap((who) => {
    const kinds = ['events', 'events/public', 'received_events', 'received_events/public', 'events/orgs/acme', 'events/orgs/apex']
    return kinds.map((kind) => `/users/${who}/${kind}`)
  })
  return ['/events', '/orgs/acme/events', '/orgs/apex/events', ...users, ...repos]
}

type Event = Omit<Told, 'type' | 'payload'> & {
  id: string
  type: string
  payload: { forkee?: { id: number }; release?: { id: number } }
}

const told = ({ type, actor, repo, payload, public: open, org }: Event) =>
  tell(type, actor.login, repo.name, open, payload.forkee?.id ?? payload.release?.id, org !== undefined)

/** Gives the ids of what is shown. */
async function compare(forge: Forge, crowd: Crowd, path: string, viewer: string | null, variant: Variant) {
  const { name, delay } = variant
  const size = name === 'versioned' ? 100 : 30
  const expected = crowd.world.timeline(path, viewer, delay)
  const client = clientOf(forge, crowd, viewer, variant)
  const where = () => `${path} for ${viewer} on ${name}, after\n${crowd.history.join('\n')}`
  const pages = Math.max(1, Math.ceil(Math.min(expected?.length ?? 0, 300) / size))
  const shown: Event[] = []
  for (let page = 1; page <= pages; page++) {
    const answer = await client.get(`${path}?per_page=${size}&page=${page}`)
    assert.equal(answer.status, expected ? 200 : 404, where())
    if (expected) shown.push(...((await answer.json()) as Event[]))
  }
  if (expected) assert.deepEqual(shown.map(told), expected.slice(0, 300), where())
  return shown.map(({ id }) => id)
}

/** What is newer than an event of the same timeline is the same, oldest first; others that use the database server may hold it up. */
async function compareAfter(client: Client, path: string, ids: string[], id: string) {
  const expected = ids.slice(0, ids.indexOf(id)).reverse().slice(0, 30)
  let newer: string[] = []
  await until(`${path} has all that came after ${id}`, async () => {
    const events = (await client.read(`${path}?per_page=30&after=${id}`)) as Event[]
    newer = events.map((event) => event.id)
    return newer.length >= expected.length
  })
  assert.deepEqual(newer, expected, path)
}

const clientOf = (forge: Forge, crowd: Crowd, viewer: string | null, { as, nobody }: Variant) =>
  viewer === null ? nobody(forge) : as(crowd.person(viewer))

/** The counts on every repository, as someone who sees it is told. */
async function compareCounts({ world, people, history }: Crowd) {
  const repos = [...world.repos.values()]
  for (const repo of repos) {
    const viewer = world.people.find((who) => !world.suspended.has(who) && world.access(who, repo) > 0)
    if (!viewer) continue
    const shown = await people.get(viewer)?.read(`/repos/${repo.owner}/${repo.name}`)
    const { stargazers_count, watchers_count, subscribers_count, forks_count, network_count } = shown
    // Forks that the viewer may not see are not counted.
    const seen = repos.filter((each) => world.access(viewer, each) > 0)
    const forks = seen.filter(({ parent }) => parent === repo.id).length
    assert.deepEqual(
      { stargazers_count, watchers_count, subscribers_count, forks_count, network_count },
      {
        stargazers_count: repo.stars.size,
        watchers_count: repo.stars.size,
        subscribers_count: [...repo.minds.values()].filter(Boolean).length,
        forks_count: forks,
        network_count: seen.filter(({ network }) => network === repo.network).length,
      },
      `${repo.owner}/${repo.name}, after\n${history.join('\n')}`,
    )
  }
}
