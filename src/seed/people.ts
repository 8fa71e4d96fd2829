import { loadOrganization, setMemberAccess, setMembership, setMembershipPublic } from '#hosting/organizations/organizations.ts'
import { createOrganization, createUser, setSiteAdmin, updateProfile } from '#hosting/people/people.ts'
import { createTeam } from '#hosting/teams/create.ts'
import { loadTeam, removeFromTeam, setTeamRole, type TeamRole } from '#hosting/teams/teams.ts'
import { levelOf } from '#identity/access.ts'
import { loadAccount } from '#identity/accounts.ts'
import { follow } from './acting.ts'
import type { Seed, SeedOrganization, SeedTeam, SeedUser } from './format.ts'
import type { SeedStage } from './seed-stage.ts'
import type { Timetable } from './timetable.ts'

/** Users, whom they follow, organizations and teams. */
export function planPeople(timetable: Timetable, { users = [], organizations = [] }: Seed) {
  const thread = timetable.begin(['users'], undefined, async (stage) => {
    stage.accounts.set('admin', await loadAccount(stage.db, 'admin'))
    await stage.transaction(async (db) => {
      for (const [index, user] of users.entries()) {
        stage.path = ['users', index]
        stage.accounts.set(user.login, await writeUser(db, stage, user))
      }
    })
  })
  for (const [index, { login, follows = [] }] of users.entries()) {
    for (const [place, followed] of follows.entries())
      timetable.add(thread, ['users', index, 'follows', place], undefined, (stage) => follow(stage, login, followed))
  }
  for (const [index, organization] of organizations.entries()) {
    const path = ['organizations', index]
    timetable.add(thread, path, undefined, (stage) => createOrganizationOf(stage, organization))
    for (const [place, team] of (organization.teams ?? []).entries())
      timetable.add(thread, [...path, 'teams', place], undefined, (stage) => createTeamOf(stage, organization, team))
  }
}

type Transaction = Parameters<typeof createUser>[0]

async function writeUser(db: Transaction, stage: SeedStage, { login, site_admin = false, ...user }: SeedUser) {
  const { name, bio, company, location, email = `${login}@example.com` } = user
  const profile = { ...(bio && { bio }), ...(company && { company }), ...(location && { location }) }
  if (login === 'admin') {
    const admin = stage.account('admin')
    return updateProfile(db, admin, { ...profile, ...(name && { name }), ...(user.email && { email }) })
  }
  const password_hash = stage.hashes.get(login) ?? null
  const created = await createUser(db, { login, email, email_verified: true, name: name ?? null, password_hash })
  if (site_admin) await setSiteAdmin(db, created, true)
  return Object.keys(profile).length || site_admin ? updateProfile(db, { ...created, site_admin }, profile) : created
}

async function createOrganizationOf(stage: SeedStage, wanted: SeedOrganization) {
  const { login, name = null, description, owners, members = [], default_permission = 'read' } = wanted
  const [first = '', ...others] = owners
  const owner = stage.account(first)
  await stage.transaction(async (db) => {
    const created = await createOrganization(db, login, name, owner)
    const org = description ? await updateProfile(db, created, { bio: description }) : created
    stage.accounts.set(login, org)
    for (const other of others) await setMembership(db, owner, org, stage.account(other), 'admin')
    for (const member of members) await setMembership(db, owner, org, stage.account(member), 'member')
    for (const member of [...owners, ...members]) await setMembershipPublic(db, org, stage.account(member), true)
    if (default_permission !== 'read') await setMemberAccess(db, owner, org, levelOf(default_permission))
  })
}

/** The creator of a team is its maintainer, so an owner who is not in the team leaves it again. */
async function createTeamOf(stage: SeedStage, { login, owners: [first = ''] }: SeedOrganization, wanted: SeedTeam) {
  const { name, description = null, privacy = 'closed', maintainers = [], members = [] } = wanted
  const owner = stage.account(first)
  await stage.transaction(async (db) => {
    const org = await loadOrganization(db, owner.id, login)
    const team = await createTeam(db, { viewer_id: owner.id, sees_private: true }, org, owner, {
      name,
      description,
      privacy,
      maintainers,
    })
    const set = (member: string, role: TeamRole) => setTeamRole(db, owner, org, team, stage.account(member), role)
    for (const member of members) await set(member, 'member')
    if (![...maintainers, ...members].includes(first)) await removeFromTeam(db, owner, team, owner)
    stage.teams.set(`${login}/${name}`, await loadTeam(db, owner.id, org, team.slug))
  })
}
