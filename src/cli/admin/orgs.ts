import { actorOf, recordAudit } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { createOrganizationByAdmin } from '#hosting/administration/acts.ts'
import { administerOrganization } from '#hosting/administration/organization-acts.ts'
import {
  findMembership,
  listMembers,
  type OrganizationRole,
  removeMembership,
  setMembership,
} from '#hosting/organizations/organizations.ts'
import { loadAccount } from '#identity/accounts.ts'
import { type ListedAccount, listAccounts } from '#parts/administration/accounts.ts'
import type { Queryable } from '#platform/database.ts'
import { StartError } from '#platform/errors.ts'
import { listCommand } from './list-command.ts'
import { type Subcommand, subcommand } from './subcommand.ts'
import { dateText } from './table.ts'
import { findUser, stateOf } from './users.ts'

export const orgCommands: Subcommand[] = [
  listCommand({
    name: 'orgs list',
    summary: 'list organizations',
    options: {
      filter: { type: 'string', default: 'all', value: 'NAME', about: 'one of all, suspended [all]' },
      search: { type: 'string', default: '', value: 'WORDS', about: 'the beginning of a login or name' },
    },
    list({ filter, search }) {
      if (filter !== 'all' && filter !== 'suspended') throw new UsageError(`There is no filter "${filter}"`, 'admin orgs list')
      return ({ db }, slice) => listAccounts(db, 'Organization', search, filter, slice)
    },
    columns: {
      LOGIN: ({ login }) => login,
      NAME: ({ name }) => name,
      STATE: stateOf,
      MEMBERS: ({ members }) => members,
      REPOSITORIES: ({ repositories }) => repositories,
      CREATED: ({ created_at }) => dateText(created_at),
    },
    data: orgData,
  }),
  subcommand({
    name: 'orgs create',
    arguments: 'LOGIN',
    summary: 'create an organization with a first owner',
    options: {
      owner: { type: 'string', value: 'LOGIN', about: 'the first owner (required)' },
      name: { type: 'string', value: 'NAME', about: 'full name' },
    },
    async run({ options, given: [login = ''], open }) {
      if (options.owner === undefined) throw new UsageError('--owner is missing', 'admin orgs create')
      const { db, operator } = await open()
      const owner = await findUser(db, options.owner)
      const wanted = { login, profile_name: options.name }
      const org = await db.transaction((transaction) => createOrganizationByAdmin(transaction, operator, owner, wanted))
      return {
        data: { id: org.id, login: org.login, owner: owner.login },
        text: `Created ${org.login}, owned by ${owner.login}.`,
      }
    },
  }),
  listCommand({
    name: 'orgs members',
    arguments: 'LOGIN',
    summary: 'list the members of an organization with their roles',
    options: { role: { type: 'string', default: 'all', value: 'NAME', about: 'one of all, owner, member [all]' } },
    list({ role }, [login = '']) {
      const stored = { all: 'all', owner: 'admin', member: 'member' }[role]
      if (!stored) throw new UsageError(`There is no role "${role}"`, 'admin orgs members')
      return async ({ db }, slice) => listMembers(db, { ...(await findOrganization(db, login)), role: 'admin' }, stored, slice)
    },
    columns: {
      LOGIN: ({ login }) => login,
      NAME: ({ name }) => name,
      ROLE: ({ role }) => roleName(role),
      SHOWN: (member) => (member.public ? 'publicly' : 'to members'),
    },
    data: ({ id, login, name, role, ...member }) => ({ id, login, name, role: roleName(role), public: member.public }),
  }),
  subcommand({
    name: 'orgs add-owner',
    arguments: 'ORG LOGIN',
    summary: 'make a user an owner of an organization, also if its owners are gone',
    async run({ given: [name = '', login = ''], open }) {
      const { db, operator } = await open()
      const user = await findUser(db, login)
      const org = await findOrganization(db, name)
      await db.transaction(async (transaction) => {
        await setMembership(transaction, actorOf(operator), org, user, 'admin')
        await recordAudit(transaction, operator, 'org.add_owner', `${org.login}: ${user.login}`)
      })
      return { data: { org: org.login, owner: user.login }, text: `${user.login} is an owner of ${org.login}.` }
    },
  }),
  subcommand({
    name: 'orgs add-member',
    arguments: 'ORG LOGIN',
    summary: 'add a user to an organization; an owner becomes a member',
    async run({ given: [name = '', login = ''], open }) {
      const { db, operator } = await open()
      const user = await findUser(db, login)
      const org = await findOrganization(db, name)
      await db.transaction((transaction) => setMembership(transaction, actorOf(operator), org, user, 'member'))
      return { data: { org: org.login, member: user.login }, text: `${user.login} is a member of ${org.login}.` }
    },
  }),
  subcommand({
    name: 'orgs remove-member',
    arguments: 'ORG LOGIN',
    summary: 'remove a user from an organization, its teams and its repositories',
    async run({ given: [name = '', login = ''], open }) {
      const { db, operator } = await open()
      const user = await findUser(db, login)
      const org = await findOrganization(db, name)
      await db.transaction(async (transaction) => {
        if (!(await findMembership(transaction, org, user)))
          throw new StartError(`${user.login} is not a member of ${org.login}.`)
        await removeMembership(transaction, actorOf(operator), org, user)
      })
      return { data: { org: org.login, removed: user.login }, text: `${user.login} has left ${org.login}.` }
    },
  }),
  changing('suspend', 'suspend an organization: nobody can change it or its repositories', 'is suspended'),
  changing('unsuspend', 'let an organization and its repositories be changed again', 'is no longer suspended'),
  subcommand({
    name: 'orgs delete',
    arguments: 'LOGIN',
    summary: 'delete an organization with its repositories, teams and webhooks',
    about: 'Its members keep their accounts. If the command is interrupted, run it again: it goes on.',
    dangerous: ([login]) => `This deletes the organization ${login} with all of its repositories. It cannot be undone.`,
    async run({ given: [login = ''], open }) {
      const { db, operator } = await open()
      const org = await findOrganization(db, login)
      await administerOrganization(db, operator, org, 'delete')
      return { data: { id: org.id, login: org.login, deleted: true }, text: `${org.login} is deleted.` }
    },
  }),
]

function changing(act: 'suspend' | 'unsuspend', summary: string, outcome: string): Subcommand {
  return subcommand({
    name: `orgs ${act}`,
    arguments: 'LOGIN',
    summary,
    async run({ given: [login = ''], open }) {
      const { db, operator } = await open()
      const org = await findOrganization(db, login)
      await administerOrganization(db, operator, org, act)
      const { suspended_at } = await findOrganization(db, login)
      return { data: { id: org.id, login: org.login, suspended_at }, text: `${org.login} ${outcome}.` }
    },
  })
}

export async function findOrganization(db: Queryable, login: string) {
  const org = await loadAccount(db, login).catch(() => undefined)
  if (org?.type !== 'Organization') throw new StartError(`There is no organization "${login}".`)
  return org
}

function orgData({ id, login, name, suspended_at, members, repositories, created_at }: ListedAccount) {
  return { id, login, name, suspended_at, members, repositories, created_at }
}

const roleName = (role: OrganizationRole) => (role === 'admin' ? 'owner' : 'member')
