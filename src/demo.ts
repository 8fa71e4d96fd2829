import type { Belfry } from '#belfry.ts'
import type { Commit } from '#hosting/git/storage.ts'
import { loadOrganization, setMembership } from '#hosting/organizations/organizations.ts'
import { type Account, createOrganization, createUser, follow } from '#hosting/people/people.ts'
import { levelOf } from '#hosting/repositories/access.ts'
import { authorOf, createOnDisk } from '#hosting/repositories/contents.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { createTeam, setTeamAccess, setTeamRole } from '#hosting/teams/teams.ts'
import { createToken } from '#parts/authentication/tokens.ts'
import { star } from '#parts/starring/starring.ts'
import { sql } from '#platform/database.ts'

const people = { ada: 'Ada Byron', ben: 'Ben Okafor', cleo: 'Cleo Marchetti', dmitri: 'Dmitri Sorokin' }
type Name = keyof typeof people

const follows: [Name, Name][] = [
  ['ada', 'ben'],
  ['ben', 'ada'],
  ['cleo', 'ada'],
  ['dmitri', 'ada'],
  ['dmitri', 'cleo'],
]

interface DemoRepository {
  owner: Name | 'clockwork'
  name: string
  description: string
  private?: true
  stars: Name[]
  commits: [author: Name, message: string, files: Record<string, string>][]
}

const repositories: DemoRepository[] = [
  {
    owner: 'ada',
    name: 'engine',
    description: 'Notes on an engine that computes',
    stars: ['ben', 'cleo', 'dmitri'],
    commits: [
      ['ada', 'Begin', { 'README.md': '# engine\n\nNotes on an engine that computes.\n' }],
      ['ada', 'Describe the mill', { 'mill.md': 'The mill does the work; the store keeps the numbers.\n' }],
      ['ben', 'Count from nought', { 'src/count.ts': 'export const count = (n: number) => [...Array(n).keys()]\n' }],
    ],
  },
  {
    owner: 'clockwork',
    name: 'tower',
    description: 'The clock in the tower, and its bells',
    stars: ['ada', 'dmitri'],
    commits: [
      ['cleo', 'Build the tower', { 'README.md': '# tower\n\nRings on every act.\n', 'bells.json': '{"bells":5}\n' }],
      ['ada', 'Hang a sixth bell', { 'bells.json': '{"bells":6}\n' }],
    ],
  },
  {
    owner: 'clockwork',
    name: 'ledger',
    description: 'What the works cost',
    private: true,
    stars: [],
    commits: [['cleo', 'Open the books', { 'ledger.csv': 'date,what,cost\n2026-01-05,rope,12\n' }]],
  },
]

/** Tokens of the demo's people, shown once. */
export type DemoTokens = Record<string, string>

/** Loads people, an organization with a team, and repositories to try things on; once, and then no more. */
export async function loadDemo({ db, storage }: Belfry): Promise<DemoTokens> {
  const { rowCount } = await db.query(sql`select from accounts where lower(login) = 'ada'`)
  if (rowCount) return {}
  const { accounts, org, tokens } = await db.transaction(async (transaction) => {
    const accounts = {} as Record<Name, Account>
    const tokens: DemoTokens = {}
    for (const [login, name] of Object.entries(people) as [Name, string][]) {
      accounts[login] = await createUser(transaction, { login, name, email: `${login}@example.com` })
      const scopes = ['repo', 'user', 'notifications', 'admin:org', 'delete_repo', 'admin:repo_hook']
      tokens[login] = (await createToken(transaction, accounts[login], { note: 'Demo', scopes })).token
    }
    for (const [follower, followed] of follows) await follow(transaction, accounts[follower], accounts[followed])
    const org = await createOrganization(transaction, 'clockwork', 'The Clockwork Works', accounts.cleo)
    await setMembership(transaction, org, accounts.ada, 'member')
    return { accounts, org, tokens }
  })
  const made: Repository[] = []
  for (const { owner, name, description, commits, stars, private: hidden = false } of repositories) {
    const creator = owner === 'clockwork' ? accounts.cleo : accounts[owner]
    const sight = { viewer_id: creator.id, sees_private: true }
    const place = owner === 'clockwork' ? org : creator
    const repo = await createOnDisk(db, storage, sight, place, creator, { name, description, private: hidden })
    const { size } = await storage.commit(repo.id, repo.default_branch, commits.map(toCommit))
    await db.transaction(async (transaction) => {
      await transaction.query(sql`update repositories set size = ${size}, pushed_at = ${transaction.now} where id = ${repo.id}`)
      for (const name of stars) await star(transaction, accounts[name], repo)
    })
    made.push(repo)
  }
  await db.transaction(async (transaction) => {
    const works = await loadOrganization(transaction, accounts.cleo.id, org.login)
    const team = await createTeam(transaction, works, accounts.cleo, {
      name: 'Ringers',
      description: 'They ring the bells',
      privacy: 'closed',
    })
    await setTeamRole(transaction, works, team, accounts.ada, 'member')
    for (const repo of made.filter(({ owner_id }) => owner_id === org.id))
      await setTeamAccess(transaction, team, repo, levelOf('push'))
  })
  return tokens

  function toCommit([author, message, files]: DemoRepository['commits'][number]): Commit {
    return { author: authorOf(accounts[author]), at: db.now, message: `${message}\n`, files }
  }
}
