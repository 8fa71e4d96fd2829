import assert from 'node:assert/strict'
import { type Crowd, logins } from './crowd.ts'
import { admin, type Org, pull, push } from './model.ts'

const levels: Record<string, number> = { pull, push, admin }

export async function collaborate(crowd: Crowd) {
  const { repo, who, path, may } = crowd.scene(admin) ?? assert.fail()
  const whom = crowd.pick(logins)
  const place = `${path}/collaborators/${whom}`
  if (crowd.chance(0.4)) {
    const able = may || (who === whom && crowd.world.access(who, repo) > 0)
    if (!(await crowd.ask(who, 'delete', place, undefined, able))) return
    crowd.world.changingAccess(() => repo.collaborators.delete(whom))
    return
  }
  const permission = crowd.pick(Object.keys(levels))
  const asked = await crowd.ask(who, 'put', place, { permission }, may && whom !== repo.owner)
  if (!asked) return
  const level = levels[permission] ?? 0
  const belongs = repo.collaborators.has(whom) || crowd.world.orgs.get(repo.owner)?.members.has(whom) === true
  assert.equal(asked.status, belongs ? 204 : 201, `${crowd.history.at(-1)}`)
  if (belongs) {
    const added = !repo.collaborators.has(whom)
    crowd.world.changingAccess(() => repo.collaborators.set(whom, level))
    if (added) crowd.world.happen('MemberEvent', who, repo)
  } else if (await crowd.ask(whom, 'patch', `/user/repository_invitations/${asked.body.id}`, undefined, true)) {
    crowd.world.changingAccess(() => repo.collaborators.set(whom, level))
    crowd.world.happen('MemberEvent', who, repo)
  }
}

/** An organization and someone who mostly runs it. */
function findOffice(crowd: Crowd) {
  const login = crowd.pick(crowd.world.orgs.keys())
  const org = crowd.world.orgs.get(login) ?? assert.fail()
  const owners = [...org.members].filter(([, role]) => role === 'admin').map(([who]) => who)
  const who = crowd.chance(0.9) ? crowd.pick(owners) : crowd.pick(logins)
  return { login, org, owners, who, may: owners.includes(who) }
}

export async function joinOrLeave(crowd: Crowd) {
  const { login, org, owners, who, may } = findOffice(crowd)
  const whom = crowd.pick(logins)
  const last = owners.length === 1 && owners[0] === whom
  const path = `/orgs/${login}/memberships/${whom}`
  const what = crowd.pick(['leave', 'permit', 'join', 'join'])
  if (what === 'leave') {
    const able = org.members.has(whom) && (may || who === whom) && !last
    if (await crowd.ask(who, 'delete', path, undefined, able)) crowd.world.leave(org, login, whom)
  } else if (what === 'permit') {
    const [name, level] = crowd.pick(Object.entries({ none: 0, read: pull, write: push }))
    const asked = await crowd.ask(who, 'patch', `/orgs/${login}`, { default_repository_permission: name }, may)
    if (asked) crowd.world.changingAccess(() => Object.assign(org, { access: level }))
  } else {
    const role = crowd.chance(0.25) ? 'admin' : 'member'
    const asked = await crowd.ask(who, 'put', path, { role }, may && !(last && role === 'member'))
    if (asked) crowd.world.changingAccess(() => org.members.set(whom, role))
  }
}

export async function changeTeam(crowd: Crowd) {
  const { login, org, who, may } = findOffice(crowd)
  await (crowd.chance(0.5) ? changeTeamMember(crowd, login, org, who, may) : changeTeamRepo(crowd, login, org, who, may))
}

async function changeTeamMember(crowd: Crowd, login: string, { crew, members }: Org, who: string, may: boolean) {
  const whom = crowd.pick(logins)
  const path = `/orgs/${login}/teams/crew/memberships/${whom}`
  if (crowd.chance(0.4)) {
    const able = (may || (who === whom && members.has(who))) && crew.members.has(whom)
    if (await crowd.ask(who, 'delete', path, undefined, able)) crowd.world.changingAccess(() => crew.members.delete(whom))
    return
  }
  // The team's first maintainer may not be an owner any more.
  if (!may) return
  if (!(await crowd.ask(who, 'put', path, {}, may))) return
  crowd.world.changingAccess(() => {
    if (!members.has(whom)) members.set(whom, 'member')
    crew.members.add(whom)
  })
}

async function changeTeamRepo(crowd: Crowd, login: string, { crew }: Org, who: string, may: boolean) {
  const repos = [...crowd.world.repos.values()].filter(({ owner }) => owner === login)
  if (!repos.length || !may) return
  const repo = crowd.pick(repos)
  const path = `/orgs/${login}/teams/crew/repos/${login}/${repo.name}`
  if (crowd.chance(0.3)) {
    if (await crowd.ask(who, 'delete', path, undefined, may)) crowd.world.changingAccess(() => crew.repos.delete(repo.id))
    return
  }
  const permission = crowd.pick(Object.keys(levels))
  const asked = await crowd.ask(who, 'put', path, { permission }, may)
  if (asked) crowd.world.changingAccess(() => crew.repos.set(repo.id, levels[permission] ?? 0))
}
