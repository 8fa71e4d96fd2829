import { text as readStream } from 'node:stream/consumers'
import { UsageError } from '#cli/command.ts'
import { changeUser, createUserByAdmin, resetPassword, type UserAct } from '#hosting/administration/acts.ts'
import { loadUser } from '#identity/accounts.ts'
import { newPassword } from '#identity/passwords.ts'
import { type ListedAccount, listAccounts, type UserFilter, userFilters } from '#parts/administration/accounts.ts'
import { StartError } from '#platform/errors.ts'
import { listCommand } from './list-command.ts'
import { type Subcommand, subcommand } from './subcommand.ts'
import { dateText } from './table.ts'

const passwordInput = {
  type: 'boolean',
  default: false,
  about: 'read the password from standard input, instead of making one up',
} as const

export const userCommands: Subcommand[] = [
  listCommand({
    name: 'users list',
    summary: 'list users',
    options: {
      filter: { type: 'string', default: 'all', value: 'NAME', about: `one of ${Object.keys(userFilters).join(', ')} [all]` },
      search: { type: 'string', default: '', value: 'WORDS', about: 'the beginning of a login, name or e-mail address' },
    },
    list({ filter, search }) {
      if (!Object.hasOwn(userFilters, filter)) throw new UsageError(`There is no filter "${filter}"`, 'admin users list')
      return ({ db }, slice) => listAccounts(db, 'User', search, filter as UserFilter, slice)
    },
    columns: {
      LOGIN: ({ login }) => login,
      NAME: ({ name }) => name,
      'E-MAIL': ({ email }) => email,
      STATE: stateOf,
      REPOSITORIES: ({ repositories }) => repositories,
      CREATED: ({ created_at }) => dateText(created_at),
    },
    data: userData,
  }),
  subcommand({
    name: 'users create',
    arguments: 'LOGIN',
    summary: 'create a user, and print the password once',
    options: {
      email: { type: 'string', value: 'ADDRESS', about: 'e-mail address, which counts as verified' },
      name: { type: 'string', value: 'NAME', about: 'full name' },
      admin: { type: 'boolean', default: false, about: 'make the user a site admin' },
      'no-password': { type: 'boolean', default: false, about: 'the user can use tokens only' },
      'password-stdin': passwordInput,
    },
    async run({ options, given: [login = ''], open }) {
      checkNewLogin(login)
      const chosen = options['no-password'] ? undefined : await choosePassword(options['password-stdin'])
      const { db, operator } = await open()
      const { email, name } = options
      const user = await createUserByAdmin(db, operator, { login, email, name, password: chosen?.password })
      if (options.admin) await db.transaction((transaction) => changeUser(transaction, operator, user, 'promote'))
      const shown = chosen?.shown ? { password: chosen.password } : {}
      return {
        data: { id: user.id, login: user.login, email: user.email, site_admin: options.admin, ...shown },
        text: [`Created ${user.login}.`, ...passwordLine(chosen)].join('\n'),
      }
    },
  }),
  changing('suspend', 'suspend a user: tokens, password and sessions stop working', 'is suspended'),
  changing('unsuspend', 'let a suspended user in again', 'is no longer suspended'),
  changing('promote', 'make a user a site admin', 'is a site admin'),
  changing('demote', 'make a site admin an ordinary user', 'is not a site admin any more'),
  subcommand({
    name: 'users reset-password',
    arguments: 'LOGIN',
    summary: 'set a new password, print it once, and end all sessions',
    options: {
      'password-stdin': passwordInput,
      'disable-two-factor': { type: 'boolean', default: false, about: 'also remove the second factor, for a user who lost it' },
    },
    async run({ options, given: [login = ''], open }) {
      const chosen = await choosePassword(options['password-stdin'])
      const { db, operator } = await open()
      const user = await findUser(db, login)
      await resetPassword(db, operator, user, chosen.password, { two_factor: !options['disable-two-factor'] })
      return {
        data: { id: user.id, login: user.login, ...(chosen.shown && { password: chosen.password }) },
        text: [`${user.login} has a new password. All sessions have ended; tokens still work.`, ...passwordLine(chosen)].join(
          '\n',
        ),
      }
    },
  }),
]

function changing(act: Exclude<UserAct, 'rename' | 'delete'>, summary: string, outcome: string): Subcommand {
  return subcommand({
    name: `users ${act}`,
    arguments: 'LOGIN',
    summary,
    async run({ given: [login = ''], open }) {
      const { db, operator } = await open()
      const user = await findUser(db, login)
      await db.transaction((transaction) => changeUser(transaction, operator, user, act))
      const now = await loadUser(db, user.login)
      const data = { id: now.id, login: now.login, site_admin: now.site_admin, suspended_at: now.suspended_at }
      return { data, text: `${user.login} ${outcome}.` }
    },
  })
}

/** The server makes a login of any text. An operator gets exactly what they typed, or an error. */
export function checkNewLogin(login: string) {
  if (!/^[a-z\d]+(-[a-z\d]+)*$/i.test(login))
    throw new StartError(`"${login}" is not a login: use letters, digits and single hyphens between them.`)
}

export const findUser = (db: Parameters<typeof loadUser>[0], login: string) =>
  loadUser(db, login).catch(() => {
    throw new StartError(`There is no user "${login}".`)
  })

interface Chosen {
  password: string
  /** Whether the operator does not know it yet. */
  shown: boolean
}

async function choosePassword(from_input: boolean): Promise<Chosen> {
  if (!from_input) return { password: newPassword(), shown: true }
  return { password: (await readStream(process.stdin)).replace(/\r?\n$/, ''), shown: false }
}

const passwordLine = (chosen: Chosen | undefined) => (chosen?.shown ? [`Password: ${chosen.password}`] : [])

export function stateOf({ site_admin, suspended_at }: ListedAccount) {
  return [site_admin && 'site admin', suspended_at && 'suspended'].filter(Boolean).join(', ') || 'active'
}

function userData({ id, login, name, email, site_admin, suspended_at, repositories, created_at }: ListedAccount) {
  return { id, login, name, email, site_admin, suspended_at, repositories, created_at }
}
