import { actorOf } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { lockMembership, setMembership } from '#hosting/organizations/organizations.ts'
import { createTeam } from '#hosting/teams/create.ts'
import { listTeamMembers, listTeams, loadTeam, removeFromTeam, setTeamRole } from '#hosting/teams/teams.ts'
import type { Queryable } from '#platform/database.ts'
import { StartError } from '#platform/errors.ts'
import { listCommand } from './list-command.ts'
import { findOrganization } from './orgs.ts'
import { type Subcommand, subcommand } from './subcommand.ts'
import { dateText } from './table.ts'
import { findUser } from './users.ts'

export const teamCommands: Subcommand[] = [
  listCommand({
    name: 'teams list',
    arguments: 'ORG',
    summary: 'list the teams of an organization',
    list:
      (_, [org = '']) =>
      async ({ db }, slice) =>
        listTeams(db, null, await asOwner(db, org), slice),
    columns: {
      TEAM: ({ slug }) => slug,
      NAME: ({ name }) => name,
      SHOWN: ({ privacy }) => (privacy === 'closed' ? 'to all members' : 'to its members'),
      MEMBERS: ({ members_count }) => members_count,
      REPOSITORIES: ({ repos_count }) => repos_count,
      CREATED: ({ created_at }) => dateText(created_at),
    },
    data: ({ id, slug, name, privacy, members_count, repos_count }) => ({ id, slug, name, privacy, members_count, repos_count }),
  }),
  subcommand({
    name: 'teams create',
    arguments: 'ORG NAME',
    summary: 'create a team with a first maintainer',
    options: {
      maintainer: { type: 'string', value: 'LOGIN', about: 'the first maintainer, who becomes a member of ORG too (required)' },
      secret: { type: 'boolean', default: false, about: 'only its members and the owners see it' },
    },
    async run({ options: { maintainer, secret }, given: [org_name = '', name = ''], open }) {
      if (maintainer === undefined) throw new UsageError('--maintainer is missing', 'admin teams create')
      const { db, operator } = await open()
      const org = await asOwner(db, org_name)
      const user = await findUser(db, maintainer)
      const team = await db.transaction(async (transaction) => {
        if (!(await lockMembership(transaction, org, user)))
          await setMembership(transaction, actorOf(operator), org, user, 'member')
        return createTeam(
          transaction,
          { viewer_id: user.id, sees_private: true },
          org,
          { ...user, ...operator },
          {
            name,
            privacy: secret ? 'secret' : 'closed',
          },
        )
      })
      return {
        data: { id: team.id, org: org.login, slug: team.slug, maintainer: user.login },
        text: `Created ${org.login}/${team.slug}, maintained by ${user.login}.`,
      }
    },
  }),
  listCommand({
    name: 'teams members',
    arguments: 'ORG TEAM',
    summary: 'list the members of a team',
    list:
      (_, [org = '', team = '']) =>
      async ({ db }, slice) =>
        listTeamMembers(db, await findTeam(db, org, team), 'all', slice),
    columns: { LOGIN: ({ login }) => login, NAME: ({ name }) => name, ROLE: ({ role }) => role },
    data: ({ id, login, name, role }) => ({ id, login, name, role }),
  }),
  subcommand({
    name: 'teams add-member',
    arguments: 'ORG TEAM LOGIN',
    summary: 'add a user to a team and its organization, or change the role',
    options: { maintainer: { type: 'boolean', default: false, about: 'as a maintainer of the team' } },
    async run({ options: { maintainer }, given: [org_name = '', team_name = '', login = ''], open }) {
      const { db, operator } = await open()
      const org = await asOwner(db, org_name)
      const team = await findTeam(db, org_name, team_name)
      const user = await findUser(db, login)
      const role = maintainer ? 'maintainer' : 'member'
      await db.transaction((transaction) => setTeamRole(transaction, actorOf(operator), org, team, user, role))
      return {
        data: { org: org.login, team: team.slug, login: user.login, role },
        text: `${user.login} is a ${role} of ${org.login}/${team.slug}.`,
      }
    },
  }),
  subcommand({
    name: 'teams remove-member',
    arguments: 'ORG TEAM LOGIN',
    summary: 'remove a user from a team; the user stays in the organization',
    async run({ given: [org_name = '', team_name = '', login = ''], open }) {
      const { db, operator } = await open()
      const team = await findTeam(db, org_name, team_name)
      const user = await findUser(db, login)
      await db.transaction((transaction) => removeFromTeam(transaction, actorOf(operator), team, user))
      return {
        data: { org: team.org_login, team: team.slug, login: user.login },
        text: `${user.login} has left ${team.org_login}/${team.slug}.`,
      }
    },
  }),
]

/** An operator sees and changes what an owner does. */
export const asOwner = async (db: Queryable, login: string) => ({
  ...(await findOrganization(db, login)),
  role: 'admin' as const,
})

export async function findTeam(db: Queryable, org: string, team: string) {
  const owned = await asOwner(db, org)
  return loadTeam(db, null, owned, team).catch(() => {
    throw new StartError(`There is no team "${team}" in ${owned.login}. See npx belfry admin teams list ${owned.login}.`)
  })
}
