import { readFileSync } from 'node:fs'
import { text as readStream } from 'node:stream/consumers'
import { actorOf, type Operator } from '#activity/audit.ts'
import { insertUserByAdmin } from '#hosting/administration/acts.ts'
import { lockMembership, type Organization, setMembership } from '#hosting/organizations/organizations.ts'
import { findTeamRole, setTeamRole, type Team } from '#hosting/teams/teams.ts'
import { type Account, loadUser } from '#identity/accounts.ts'
import { type CsvRow, readCsv } from '#platform/csv.ts'
import type { Database, Queryable, Transaction } from '#platform/database.ts'
import { Refusal, StartError } from '#platform/errors.ts'
import { hashPassword, randomText } from '#platform/secrets.ts'
import { subcommand } from './subcommand.ts'
import { textTable } from './table.ts'
import { asOwner, findTeam } from './teams.ts'
import { checkNewLogin } from './users.ts'

const columns = ['login', 'email', 'name', 'teams'] as const
type Column = (typeof columns)[number]

/** In bytes. A user takes about 60. */
const largestFile = 4 << 20

export const usersFromFile = subcommand({
  name: 'users from-file',
  arguments: 'FILE',
  summary: 'create the users of a CSV file, with their organizations and teams',
  about: `The first line names the columns: login, and any of email, name and teams. teams has organizations and teams with spaces between:
"acme acme/core" adds a user to the organization acme and to its team core. A user who exists already only joins these.
Either all lines are applied, or none. New passwords are printed once. FILE may be -, for standard input.`,
  options: {
    'no-password': { type: 'boolean', default: false, about: 'new users get no password: they can use tokens only' },
    'dry-run': { type: 'boolean', default: false, about: 'only say what would be done' },
  },
  async run({ options, given: [path = ''], open, progress }) {
    const wanted = readUsers(await readText(path))
    const { db, operator } = await open()
    const planned = await planUsers(db, wanted)
    const done: Done[] = []
    for (const [at, each] of planned.entries()) {
      progress.show('Hashing passwords', at / planned.length)
      const password = each.user || options['no-password'] || options['dry-run'] ? undefined : randomText(20)
      done.push({ ...each, password, password_hash: password === undefined ? null : await hashPassword(password) })
    }
    if (!options['dry-run']) await db.transaction((transaction) => applyUsers(transaction, operator, done))
    return { data: done.map(shown), text: describe(done, options['dry-run']) }
  },
})

async function readText(path: string) {
  const text = path === '-' ? await readStream(process.stdin) : readFileSync(path, 'utf8')
  if (text.length > largestFile) throw new StartError(`The file is too large: it may have ${largestFile >> 20} MB.`)
  return text
}

interface WantedUser extends CsvRow {
  login: string
  email: string | undefined
  name: string | undefined
  teams: string[]
}

function readUsers(text: string): WantedUser[] {
  const [heading, ...rows] = readCsv(text, wrongLine)
  const named = heading?.fields.map((field) => field.trim().toLowerCase()) ?? []
  const unknown = named.find((name) => !columns.includes(name as Column))
  if (!heading || unknown !== undefined || !named.includes('login'))
    throw new StartError(
      `The first line must name the columns: login, and any of email, name, teams${unknown === undefined ? '' : `. It has ${JSON.stringify(unknown)}`}.`,
    )
  const seen = new Set<string>()
  return rows.map((row) => {
    const field = (name: Column) => row.fields[named.indexOf(name)]?.trim() || undefined
    const login = field('login')
    if (row.fields.length !== named.length)
      throw wrongLine(row, `it has ${row.fields.length} fields, and the first line has ${named.length}`)
    if (login === undefined) throw wrongLine(row, 'the login is missing')
    if (seen.has(login.toLowerCase())) throw wrongLine(row, `${login} is in the file twice`)
    seen.add(login.toLowerCase())
    return { ...row, login, email: field('email'), name: field('name'), teams: field('teams')?.split(/\s+/) ?? [] }
  })
}

const wrongLine = ({ line }: CsvRow, why: string) => new StartError(`Line ${line}: ${why}. Nothing was changed.`)

type Joined = { org: Organization; team?: Team }

interface Planned {
  wanted: WantedUser
  /** Undefined if the user is new. */
  user: Account | undefined
  joins: Joined[]
}

/** Everything that a line refers to must exist. */
async function planUsers(db: Database, wanted: WantedUser[]): Promise<Planned[]> {
  const known = new Map<string, Joined>()
  const planned: Planned[] = []
  for (const each of wanted) {
    const joins: Joined[] = []
    try {
      checkNewLogin(each.login)
      for (const name of each.teams) {
        const joined = known.get(name) ?? (await findJoined(db, name))
        known.set(name, joined)
        joins.push(joined)
      }
    } catch (error) {
      throw explained(each, error)
    }
    planned.push({ wanted: each, user: await loadUser(db, each.login).catch(() => undefined), joins })
  }
  return planned
}

async function findJoined(db: Queryable, name: string): Promise<Joined> {
  const [org = '', team] = name.split('/')
  const owned = await asOwner(db, org)
  return team === undefined ? { org: owned } : { org: owned, team: await findTeam(db, org, team) }
}

interface Done extends Planned {
  password: string | undefined
  password_hash: string | null
}

async function applyUsers(db: Transaction, operator: Operator, done: Done[]) {
  for (const { wanted, user: present, joins, password_hash } of done) {
    try {
      const { login, email, name } = wanted
      const user = present ?? (await insertUserByAdmin(db, operator, { login, email, name, password_hash }))
      for (const joined of joins) await join(db, operator, joined, user)
    } catch (error) {
      throw explained(wanted, error)
    }
  }
}

/** A user who is there already stays what they are. */
async function join(db: Transaction, operator: Operator, { org, team }: Joined, user: Account) {
  if (!team) {
    if (!(await lockMembership(db, org, user))) await setMembership(db, actorOf(operator), org, user, 'member')
  } else if (!(await findTeamRole(db, team, user))) await setTeamRole(db, actorOf(operator), org, team, user, 'member')
}

/** A refusal, with the line that it is about. */
function explained(row: CsvRow, error: unknown) {
  if (error instanceof StartError) return wrongLine(row, error.message.replace(/\.$/, ''))
  if (error instanceof Refusal) return wrongLine(row, error.faults?.[0]?.message ?? error.message)
  return error
}

const shown = ({ wanted: { login, teams }, user, password }: Done) => ({
  login,
  created: user === undefined,
  teams,
  ...(password !== undefined && { password }),
})

function describe(done: Done[], dry: boolean) {
  const rows = done.map(({ wanted: { login, teams }, user, password }) => [
    login,
    user ? 'exists' : dry ? 'would be created' : 'created',
    teams.join(' ') || null,
    ...(dry ? [] : [password ?? null]),
  ])
  const table = textTable(['LOGIN', 'STATE', 'TEAMS', ...(dry ? [] : ['PASSWORD'])], rows)
  return dry ? `${table}\nNothing was changed.` : table
}
