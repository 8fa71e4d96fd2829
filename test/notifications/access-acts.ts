import assert from 'node:assert/strict'
import { admin, pull, push, type Repo } from '#test/activity/model.ts'
import { type Crowd, logins, pathOf } from './crowd.ts'
import type { Topic } from './model.ts'

export async function watchSomething(crowd: Crowd) {
  const repo = crowd.repo()
  const who = crowd.someone(repo, pull)
  const mind = crowd.pick(['watch', 'watch', 'ignore', 'neither'])
  const path = `${pathOf(repo)}/subscription`
  const may = crowd.access(who, repo) >= pull
  const body = mind === 'watch' ? { subscribed: true } : { ignored: true }
  if (!(await crowd.ask(who, mind === 'neither' ? 'delete' : 'put', path, mind === 'neither' ? undefined : body, may))) return []
  if (mind === 'neither') repo.minds.delete(who)
  else repo.minds.set(who, mind === 'watch')
  return [who]
}

export async function publishOrHide(crowd: Crowd) {
  const repo = crowd.repo()
  const who = crowd.someone(repo, admin)
  const hidden = !repo.private
  if (await crowd.ask(who, 'patch', pathOf(repo), { private: hidden }, crowd.access(who, repo) >= admin)) {
    crowd.world.setPrivate(who, repo, hidden)
  }
  return crowd.some(4)
}

const levels: Record<string, number> = { pull, triage: 2, push, admin }

const openInvitation = (crowd: Crowd, repo: Repo, whom: string) =>
  crowd.inboxes.topics.find((topic) => topic.repo === repo && topic.invitee === whom && !topic.gone)

function end(invitation: Topic | undefined) {
  if (invitation) Object.assign(invitation, { invitee: null, gone: true })
}

/** Invitations are mostly accepted, later or never. */
const offers = new WeakMap<Topic, number>()

export async function collaborate(crowd: Crowd) {
  const repo = crowd.repo()
  const who = crowd.someone(repo, admin)
  const whom = crowd.pick(logins)
  const path = `${pathOf(repo)}/collaborators/${whom}`
  const may = crowd.access(who, repo) >= admin
  if (crowd.chance(0.4)) {
    if (who === whom || !(await crowd.ask(who, 'delete', path, undefined, may))) return []
    end(openInvitation(crowd, repo, whom))
    crowd.world.changingAccess(() => repo.collaborators.delete(whom))
    return [whom]
  }
  const permission = crowd.pick(Object.keys(levels))
  const asked = await crowd.ask(who, 'put', path, { permission }, may && whom !== repo.owner)
  if (!asked) return []
  const level = levels[permission] ?? 0
  const belongs = repo.collaborators.has(whom) || crowd.world.orgs.get(repo.owner)?.members.has(whom) === true
  assert.equal(asked.status, belongs ? 204 : 201)
  if (belongs) {
    end(openInvitation(crowd, repo, whom))
    crowd.world.changingAccess(() => repo.collaborators.set(whom, level))
    return [whom]
  }
  const open = openInvitation(crowd, repo, whom)
  const topic = open ?? crowd.inboxes.begin(repo, 'RepositoryInvitation', asked.body.id, '')
  topic.invitee = whom
  offers.set(topic, level)
  return crowd.inboxes.happen(topic, who, { act: 'invited', people: [whom] })
}

export async function answerInvitation(crowd: Crowd) {
  const open = crowd.inboxes.topics.filter(({ invitee, gone }) => invitee && !gone)
  if (!open.length) return []
  const topic = crowd.pick(open)
  const { invitee, repo, number } = topic
  if (!invitee) return []
  const accepts = crowd.chance(0.7)
  await crowd.ask(invitee, accepts ? 'patch' : 'delete', `/user/repository_invitations/${number}`, undefined, true)
  if (!accepts) end(topic)
  else {
    topic.invitee = null
    crowd.world.changingAccess(() => repo.collaborators.set(invitee, offers.get(topic) ?? assert.fail()))
    return crowd.inboxes.happen(topic, invitee, { act: 'accepted', people: [invitee] })
  }
  return [invitee]
}

/** Adds a user to a team or removes them. One team has access to a repository. */
export async function changeTeam(crowd: Crowd) {
  const org = crowd.world.orgs.get('acme') ?? assert.fail()
  const whom = crowd.pick(logins.filter((login) => org.members.get(login) !== 'admin'))
  const slug = crowd.pick(['crew', 'night'])
  const members = slug === 'crew' ? org.crew.members : crowd.night
  const leaves = members.has(whom)
  const path = `/orgs/acme/teams/${slug}/memberships/${whom}`
  await crowd.ask('ada', leaves ? 'delete' : 'put', path, undefined, true)
  crowd.world.changingAccess(() => {
    if (!org.members.has(whom)) org.members.set(whom, 'member')
    if (leaves) members.delete(whom)
    else members.add(whom)
  })
  return [whom]
}

export async function leaveOrganization(crowd: Crowd) {
  const org = crowd.world.orgs.get('acme') ?? assert.fail()
  const members = [...org.members].flatMap(([login, role]) => (role === 'member' ? login : []))
  if (!members.length) return []
  const whom = crowd.pick(members)
  await crowd.ask('ada', 'delete', `/orgs/acme/memberships/${whom}`, undefined, true)
  crowd.world.leave(org, 'acme', whom)
  for (const topic of crowd.inboxes.topics) if (topic.invitee === whom && topic.repo.owner === 'acme') end(topic)
  crowd.night.delete(whom)
  return [whom]
}
