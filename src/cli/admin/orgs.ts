import { recordAudit } from '#activity/audit.ts'
import { UsageError } from '#cli/command.ts'
import { createOrganizationByAdmin } from '#hosting/administration/acts.ts'
import { setMembership } from '#hosting/organizations/organizations.ts'
import { loadAccount } from '#identity/accounts.ts'
import { listAccounts } from '#parts/administration/accounts.ts'
import { StartError } from '#platform/errors.ts'
import { listOptions, sliceOf } from './list-command.ts'
import { type Subcommand, subcommand } from './subcommand.ts'
import { dateText, textTable } from './table.ts'
import { findUser } from './users.ts'

export const orgCommands: Subcommand[] = [
  subcommand({
    name: 'orgs list',
    summary: 'list organizations',
    options: {
      search: { type: 'string', default: '', value: 'WORDS', about: 'the beginning of a login or name' },
      ...listOptions,
    },
    async run({ options, open }) {
      const slice = sliceOf('orgs list', options)
      const { db } = await open()
      const { rows, total } = await listAccounts(db, 'Organization', options.search, 'all', slice)
      const lines = rows.map((org) => [org.login, org.name, org.members, org.repositories, dateText(org.created_at)])
      return {
        data: rows.map(({ id, login, name, members, repositories, created_at }) => ({
          id,
          login,
          name,
          members,
          repositories,
          created_at,
        })),
        text: textTable(['LOGIN', 'NAME', 'MEMBERS', 'REPOSITORIES', 'CREATED'], lines, total),
      }
    },
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
  subcommand({
    name: 'orgs add-owner',
    arguments: 'ORG LOGIN',
    summary: 'make a user an owner of an organization, also if its owners are gone',
    async run({ given: [name = '', login = ''], open }) {
      const { db, operator } = await open()
      const user = await findUser(db, login)
      const org = await loadAccount(db, name).catch(() => undefined)
      if (org?.type !== 'Organization') throw new StartError(`There is no organization "${name}".`)
      await db.transaction(async (transaction) => {
        await setMembership(transaction, user, org, user, 'admin')
        await recordAudit(transaction, operator, 'org.add_owner', `${org.login}: ${user.login}`)
      })
      return { data: { org: org.login, owner: user.login }, text: `${user.login} is an owner of ${org.login}.` }
    },
  }),
]
