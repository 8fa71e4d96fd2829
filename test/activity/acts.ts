import assert from 'node:assert/strict'
import { expect } from '#test/forge.ts'
import { type Crowd, logins } from './crowd.ts'
import { admin, pull, push, type Repo } from './model.ts'

export function createSomewhere(crowd: Crowd) {
  const who = crowd.pick(logins)
  const owner = crowd.chance(0.5) ? who : crowd.pick(crowd.world.orgs.keys())
  return create(crowd, who, owner, { private: crowd.chance(0.4), auto_init: crowd.chance(0.3) })
}

export async function create(crowd: Crowd, who: string, owner: string, options: { private: boolean; auto_init: boolean }) {
  const org = crowd.world.orgs.get(owner)
  const may = owner === who || org?.members.has(who) === true
  const name = crowd.name()
  const made = await crowd.ask(who, 'post', org ? `/orgs/${owner}/repos` : '/user/repos', { name, ...options }, may)
  if (!made) return undefined
  const repo = crowd.world.create(who, { id: made.body.id, owner, name, private: options.private })
  if (options.auto_init) crowd.world.happen('CreateEvent', who, repo)
  repo.has_commits = options.auto_init
  return repo
}

export async function pushSomething(crowd: Crowd) {
  const scene = crowd.scene(push, ({ was_forked }) => !was_forked)
  if (!scene) return
  const { repo, who, path, may } = scene
  const body = { message: 'Write', content: btoa('written') }
  if (!(await crowd.ask(who, 'put', `${path}/contents/${crowd.name()}`, body, may))) return
  if (!repo.has_commits) crowd.world.happen('CreateEvent', who, repo)
  repo.has_commits = true
  crowd.world.happen('PushEvent', who, repo)
}

export async function starSomething(crowd: Crowd) {
  const gives = crowd.chance(0.6)
  const { repo, who, may } = findChange(crowd, gives, ({ stars }) => stars)
  if (!(await crowd.ask(who, gives ? 'put' : 'delete', `/user/starred/${repo.owner}/${repo.name}`, undefined, may))) return
  if (gives && !repo.stars.has(who)) crowd.world.happen('WatchEvent', who, repo)
  if (gives) repo.stars.add(who)
  else repo.stars.delete(who)
}

/** Somebody who begins something at a repository, or, where there is such a one, who has begun it before. */
function findChange(crowd: Crowd, begins: boolean, begun: (repo: Repo) => Iterable<string>) {
  const held = begins ? [] : [...crowd.world.repos.values()].flatMap((repo) => [...begun(repo)].map((who) => ({ repo, who })))
  const { repo, who } = held.length ? crowd.pick(held) : (crowd.scene(pull) ?? assert.fail())
  return { repo, who, path: `/repos/${repo.owner}/${repo.name}`, may: crowd.world.access(who, repo) >= pull }
}

export async function forkSomething(crowd: Crowd) {
  const { repo, who, path, may } = crowd.scene(pull) ?? assert.fail()
  const name = crowd.name()
  const made = await crowd.ask(who, 'post', `${path}/forks`, { name }, may && repo.owner !== who)
  if (!made) return
  const { id } = made.body
  if (!crowd.world.repos.has(id)) crowd.world.create(who, { id, owner: who, name, private: repo.private }, repo)
  else assert.equal(crowd.world.repos.get(id)?.network, repo.network, 'the fork that was there')
}

export async function followSomeone(crowd: Crowd) {
  const follows = crowd.chance(0.7)
  const { follows: held } = crowd.world
  const pair = follows || !held.size ? [crowd.pick(logins), crowd.pick(logins)] : crowd.pick(held).split(' ')
  const [who = '', whom = ''] = pair
  const path = `/user/following/${whom}`
  if (!(await crowd.ask(who, follows ? 'put' : 'delete', path, undefined, !follows || who !== whom))) return
  if (follows) held.add(`${who} ${whom}`)
  else held.delete(`${who} ${whom}`)
}

export async function watchSomething(crowd: Crowd) {
  const ends = crowd.chance(0.3)
  const { repo, who, path, may } = findChange(crowd, !ends, ({ minds }) => minds.keys())
  const ignored = crowd.chance(0.3)
  const body = ends ? undefined : ignored ? { ignored } : { subscribed: true }
  if (!(await crowd.ask(who, ends ? 'delete' : 'put', `${path}/subscription`, body, may))) return
  if (ends) repo.minds.delete(who)
  else repo.minds.set(who, !ignored)
}

export async function publishOrHide(crowd: Crowd) {
  const { repo, who, path, may } = crowd.scene(admin) ?? assert.fail()
  const hidden = crowd.chance(0.8) ? !repo.private : repo.private
  const kept = repo.private && !hidden && repo.parent !== null && crowd.world.repos.get(repo.parent)?.private === true
  if (await crowd.ask(who, 'patch', path, { private: hidden }, may && !kept)) crowd.world.setPrivate(who, repo, hidden)
}

export async function renameSomething(crowd: Crowd) {
  const { repo, who, path, may } = crowd.scene(admin) ?? assert.fail()
  const name = crowd.name()
  if (await crowd.ask(who, 'patch', path, { name }, may)) repo.name = name
}

export async function transferSomething(crowd: Crowd) {
  const { repo, who, path, may } = crowd.scene(admin) ?? assert.fail()
  const owner = crowd.pick([...logins, ...crowd.world.orgs.keys(), ...crowd.world.orgs.keys()])
  const org = crowd.world.orgs.get(owner)
  const able = may && owner !== repo.owner && !repo.forked_from_private
  if (!(await crowd.ask(who, 'post', `${path}/transfer`, { new_owner: owner }, able))) return
  if (owner === who || org?.members.has(who)) return crowd.world.transfer(repo, owner)
  // The other side accepts, and keeps everyone.
  const [receiver = owner] = org ? [...org.members].flatMap(([login, role]) => (role === 'admin' ? login : [])) : []
  if (crowd.world.suspended.has(receiver)) return
  const offers = await crowd.person(receiver).read('/user/repository_transfers?per_page=100')
  const offer = offers.find(({ repository }: { repository: { id: number } }) => repository.id === repo.id)
  const kept = { keep_former_owner: true, keep_collaborators: true }
  if (await crowd.ask(receiver, 'patch', `/user/repository_transfers/${offer.id}`, kept, true)) crowd.world.transfer(repo, owner)
}

export async function deleteSomething(crowd: Crowd) {
  const { repo, who, path, may } = crowd.scene(admin) ?? assert.fail()
  if (crowd.world.repos.size > 6 && (await crowd.ask(who, 'delete', path, undefined, may))) crowd.world.delete(repo)
}

export async function suspendSomeone(crowd: Crowd) {
  const [suspended] = crowd.world.suspended
  const who = suspended ?? crowd.pick(logins)
  crowd.history.push(`${who} is ${suspended ? 'let in again' : 'suspended'}`)
  const { admin: operator } = crowd.forge
  const path = `/users/${who}/suspended`
  await expect(204, suspended ? await operator.delete(path) : await operator.put(path))
  if (suspended) crowd.world.suspended.delete(who)
  else crowd.world.suspended.add(who)
}

export async function releaseSomething(crowd: Crowd) {
  const ends = crowd.chance(0.4)
  const scene = crowd.scene(push, ({ has_commits, releases }) => (ends ? releases.size > 0 : has_commits))
  if (!scene) return
  const { repo, who, path, may } = scene
  if (ends) {
    const id = crowd.pick(repo.releases)
    if (await crowd.ask(who, 'delete', `${path}/releases/${id}`, undefined, may)) repo.releases.delete(id)
    return
  }
  const made = await crowd.ask(who, 'post', `${path}/releases`, { tag_name: crowd.name() }, may)
  if (!made) return
  crowd.world.happen('CreateEvent', who, repo)
  repo.releases.add(made.body.id)
  crowd.world.happen('ReleaseEvent', who, repo, made.body.id)
}
