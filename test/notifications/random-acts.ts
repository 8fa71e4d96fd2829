import { test } from 'node:test'
import { seeded } from '#test/activity/crowd.ts'
import { pull, push } from '#test/activity/model.ts'
import { expect, openForge } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { answerInvitation, changeTeam, collaborate, leaveOrganization, publishOrHide, watchSomething } from './access-acts.ts'
import {
  assignSomeone,
  changeIssue,
  commentSomewhere,
  deleteComment,
  deleteRelease,
  editComment,
  openSomething,
  publishRelease,
  renameSomething,
} from './acts.ts'
import { compareAll, compareOne, compareParts, compareUnread } from './compare.ts'
import { Crowd, logins } from './crowd.ts'
import { askForReview, mergeSomething, proposeSomething, pushMore, reviewSomething } from './pull-acts.ts'
import { changeMind, type Ids, markMany, markThread } from './reading-acts.ts'

/** Compares the inboxes that random acts lead to with the model. The slow test takes another seed from `MODEL_SEED`. */
export function testRandomActs({ seed, steps }: { seed: number; steps: number }) {
  test(`random acts of ten users reach the right inboxes and no others (seed ${seed})`, async () => {
    await using forge = await openForge({ worker: true })
    const crowd = new Crowd(forge, seeded(seed))
    await gather(crowd)
    const ids: Ids = new Map()
    for (let done = 1; done <= steps; done++) {
      // Often several acts happen in one second, and some at the same time.
      crowd.advance(crowd.chance(0.3) ? 0 : crowd.below(crowd.chance(0.5) ? 3000 : 300))
      const affected = await crowd.pick(all)(crowd, ids)
      await told(forge)
      const looked = new Set([...affected, crowd.pick(logins)])
      await Promise.all([...looked].map((who) => compareAll(crowd, ids, who)))
      for (const compare of [compareUnread, compareOne]) await compare(crowd, ids, crowd.pick(looked))
      if (done % 5 === 0) await compareParts(crowd, ids, crowd.pick(looked))
      if (done % 50 && done < steps) continue
      for (const who of logins) for (const compare of [compareAll, compareUnread]) await compare(crowd, ids, who, 100)
    }
  })
}

/** Three repositories: ada's public one, ben's private one, and one of an organization for its team. */
async function gather(crowd: Crowd) {
  const { world } = crowd
  for (const login of logins) crowd.people.set(login, await crowd.forge.person(login))
  const [ada, ben] = [crowd.person('ada'), crowd.person('ben')]
  await crowd.forge.organization('acme', ada)
  await expect(200, await ada.patch('/orgs/acme', { default_repository_permission: 'none' }))
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'crew', privacy: 'closed' }))
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'night', privacy: 'secret' }))
  crowd.night.add('ada')
  const crew = { members: new Set(['ada']), repos: new Map<number, number>() }
  const members = new Map<string, 'admin' | 'member'>([['ada', 'admin']])
  world.orgs.set('acme', { members, access: 0, crew })
  for (const [slug, who] of ['crew dee', 'crew eve', 'night eve', 'night finn'].map((pair) => pair.split(' '))) {
    await expect(200, await ada.put(`/orgs/acme/teams/${slug}/memberships/${who}`))
    members.set(who ?? '', 'member')
    if (slug === 'crew') crew.members.add(who ?? '')
    else crowd.night.add(who ?? '')
  }
  const engine = await ada.owns('engine', { auto_init: true })
  world.create('ada', { id: engine.id, owner: 'ada', name: 'engine', private: false })
  const vault = await ben.owns('vault', { auto_init: true, private: true })
  const ours = world.create('ben', { id: vault.id, owner: 'ben', name: 'vault', private: true })
  for (const [login, permission, level] of [
    ['cy', 'push', push],
    ['gus', 'pull', pull],
    ['hal', 'triage', 2],
  ] as const) {
    const { id } = await expect(201, await ben.put(`/repos/ben/vault/collaborators/${login}`, { permission }))
    await expect(204, await crowd.person(login).patch(`/user/repository_invitations/${id}`))
    world.changingAccess(() => ours.collaborators.set(login, level))
    const topic = crowd.inboxes.begin(ours, 'RepositoryInvitation', id, '')
    crowd.inboxes.happen(topic, 'ben', { act: 'invited', people: [login] })
    crowd.inboxes.happen(topic, login, { act: 'accepted', people: [login] })
  }
  const hub = await expect(201, await ada.post('/orgs/acme/repos', { name: 'hub', auto_init: true, private: true }))
  const repo = world.create('ada', { id: hub.id, owner: 'acme', name: 'hub', private: true })
  await expect(204, await ada.put('/orgs/acme/teams/crew/repos/acme/hub', { permission: 'triage' }))
  world.changingAccess(() => crew.repos.set(repo.id, 2))
}

type Act = (crowd: Crowd, ids: Ids) => Promise<string[]>

const acts: readonly (readonly [number, Act])[] = [
  [5, openSomething],
  [24, commentSomewhere],
  [8, editComment],
  [2, deleteComment],
  [10, changeIssue],
  [9, assignSomeone],
  [2, proposeSomething],
  [2, pushMore],
  [5, askForReview],
  [5, reviewSomething],
  [2, mergeSomething],
  [3, publishRelease],
  [1, deleteRelease],
  [1, renameSomething],
  [8, watchSomething],
  [2, publishOrHide],
  [7, collaborate],
  [4, answerInvitation],
  [4, changeTeam],
  [1, leaveOrganization],
  [8, markThread],
  [8, markMany],
  [18, changeMind],
]
const all = acts.flatMap(([weight, act]) => Array<Act>(weight).fill(act))
