import type { Belfry } from '#belfry.ts'
import { noObject } from '#git/objects.ts'
import { loadOrganization, setMembership } from '#hosting/organizations/organizations.ts'
import { createOrganization, createUser, follow } from '#hosting/people/people.ts'
import { createPull } from '#hosting/pulls/opening.ts'
import { adoptRefs, pushRefs } from '#hosting/pushes/pushes.ts'
import { createRelease } from '#hosting/releases/releases.ts'
import { authorOf, createOnDisk } from '#hosting/repositories/contents.ts'
import { forkRepository } from '#hosting/repositories/forks.ts'
import type { Repository } from '#hosting/repositories/repositories.ts'
import { createTeam } from '#hosting/teams/create.ts'
import { setTeamAccess, setTeamRole } from '#hosting/teams/teams.ts'
import { levelOf } from '#identity/access.ts'
import type { Account } from '#identity/accounts.ts'
import { createToken } from '#identity/tokens.ts'
import { star } from '#parts/starring/starring.ts'
import { sql } from '#platform/database.ts'
import { hashPassword, randomText } from '#platform/secrets.ts'
import { addConversations } from './conversations.ts'

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

/** A fork with commits of its own, and the pull request from it. */
const fork = {
  of: 'engine',
  by: 'dmitri' as Name,
  commits: [
    ['dmitri', 'Turn the other way', { 'mill.md': 'The mill does the work, in either direction.\n' }],
    ['dmitri', 'Count down', { 'src/count.ts': 'export const count = (n: number) => [...Array(n).keys()].reverse()\n' }],
  ] satisfies DemoRepository['commits'],
  pull: {
    title: 'Let the mill turn both ways',
    body: 'The mill turns in both directions, and the counter counts down. @ada and @ben, please review.',
  },
}

/** Credentials of the demo's users, printed once. */
export interface DemoAccess {
  /** One for all users, random for each server, because a well-known password would open a public server. */
  password: string
  /** API tokens by login. */
  tokens: Record<string, string>
}

/** Loads example users, an organization with a team, and repositories. Returns null when they are already loaded. */
export async function loadDemo({ db, storage }: Belfry): Promise<DemoAccess | null> {
  const { rowCount } = await db.query(sql`select from accounts where lower(login) = 'ada'`)
  if (rowCount) return null
  const password = randomText(16)
  const password_hash = await hashPassword(password)
  const { accounts, org, tokens } = await db.transaction(async (transaction) => {
    const accounts = {} as Record<Name, Account>
    const tokens: DemoAccess['tokens'] = {}
    for (const [login, name] of Object.entries(people) as [Name, string][]) {
      const email = `${login}@example.com`
      accounts[login] = await createUser(transaction, { login, name, email, email_verified: true, password_hash })
      const scopes = ['repo', 'user', 'notifications', 'admin:org', 'delete_repo', 'admin:repo_hook']
      tokens[login] = (await createToken(transaction, accounts[login], { note: 'Demo', scopes })).token
    }
    for (const [follower, followed] of follows) await follow(transaction, accounts[follower], accounts[followed])
    const org = await createOrganization(transaction, 'clockwork', 'The Clockwork Works', accounts.cleo)
    await setMembership(transaction, accounts.cleo, org, accounts.ada, 'member')
    return { accounts, org, tokens }
  })
  const made: Repository[] = []
  for (const { owner, name, description, commits, stars, private: hidden = false } of repositories) {
    const creator = owner === 'clockwork' ? accounts.cleo : accounts[owner]
    const viewer = { viewer_id: creator.id, sees_private: true }
    const account = owner === 'clockwork' ? org : creator
    const repo = await createOnDisk(db, storage, viewer, account, creator, { name, description, private: hidden })
    await push(repo, commits)
    await db.transaction(async (transaction) => {
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
    await setTeamRole(transaction, accounts.cleo, works, team, accounts.ada, 'member')
    for (const repo of made.filter(({ owner_id }) => owner_id === org.id))
      await setTeamAccess(transaction, accounts.cleo, team, repo, levelOf('push'))
  })
  await addConversations(db, accounts, made)
  await release()
  await openPullFromFork()
  return { password, tokens }

  /** Pushes each commit by itself, as its author. */
  async function push(repo: Repository, commits: DemoRepository['commits']) {
    const ref = `refs/heads/${repo.default_branch}`
    let head = (await storage.refsOf(repo.id, [ref])).get(ref)
    for (const [author, message, files] of commits) {
      const pusher = accounts[author]
      const commit = { author: authorOf(pusher), at: db.now, message: `${message}\n`, files }
      const after = await storage.draft(repo.id, head, [commit])
      await pushRefs(db, storage, repo, pusher, [{ ref, before: head ?? noObject, after }])
      head = after
    }
  }

  async function release() {
    const tower = made.find(({ name }) => name === 'tower')
    if (!tower) return
    const body = 'Six bells, and a clock that stays within a second a day.'
    await createRelease(db, storage, tower, accounts.cleo, { tag_name: 'v1.0', name: 'Six bells', body })
  }

  async function openPullFromFork() {
    const [forker, original] = [accounts[fork.by], made.find(({ name }) => name === fork.of)]
    if (!original) return
    const viewer = { viewer_id: forker.id, sees_private: true }
    const copy = await db.transaction(async (transaction) => {
      const copy = await forkRepository(transaction, viewer, original, forker, forker, {})
      // Copies the few kilobytes now, because the commits below need them before the fork's own job has run.
      await storage.copy(original.id, copy.id, copy.default_branch, null, (refs) => adoptRefs(transaction, copy.id, refs))
      return copy
    })
    await push(copy, fork.commits)
    await createPull(db, storage, viewer, original, forker, {
      ...fork.pull,
      head: `${forker.login}:${copy.default_branch}`,
      base: original.default_branch,
    })
  }
}
