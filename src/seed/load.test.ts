import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { asApp } from '#test/apps.ts'
import { type Forge, linesOf, openForge, Person } from '#test/forge.ts'
import { checkSeed } from './check.ts'
import type { Seed, SeedAccess } from './format.ts'
import { loadSeed } from './load.ts'
import { parseSeed } from './parse.ts'

const seed: Seed = {
  users: [
    {
      login: 'ada',
      name: 'Ada Byron',
      password: 'counts gears',
      tokens: [{ name: 'ci', value: 'bfp_adas-fixed-token', scopes: ['repo', 'notifications'] }],
    },
    { login: 'ben', follows: ['ada'] },
    { login: 'cleo', site_admin: true },
  ],
  organizations: [
    {
      ...{ login: 'acme', name: 'Acme', owners: ['ada'], members: ['cleo'] },
      teams: [{ name: 'Builders', members: ['cleo'], repositories: [{ name: 'acme/rocket', permission: 'push' }] }],
    },
  ],
  repositories: [
    {
      ...{ name: 'acme/rocket', description: 'To the moon', default_branch: 'trunk', topics: ['space'] },
      files: { 'README.md': '# rocket\n', 'old.txt': 'old\n' },
      commits: [
        { message: 'Add a fin', author: 'cleo', files: { 'fin.txt': 'a fin\n', 'old.txt': null }, at: '2026-02-01T10:00:00Z' },
        { message: 'Paint it', author: 'Dora <dora@example.com>', branch: 'paint', files: { 'fin.txt': 'a red fin\n' } },
        { message: 'Add an engine', author: 'cleo', branch: 'engine', files: { 'engine.txt': 'an engine\n' } },
      ],
      tags: [{ name: 'v1' }],
      labels: [{ name: 'bug', color: 'd73a4a' }],
      milestones: [{ title: 'Launch', due_on: '2026-12-01' }],
      issues: [
        {
          ...{
            title: 'It leaks',
            body: 'Fuel {everywhere}. @cleo',
            author: 'ben',
            labels: ['bug'],
            assignees: ['cleo'],
            milestone: 'Launch',
          },
          comments: [{ author: 'cleo', body: 'Looking.' }],
          ...{ state: 'closed', closed_by: 'cleo', closed_at: '2026-03-01T00:00:00Z' },
        },
        { title: 'Paint', author: 'cleo' },
      ],
      pull_requests: [
        {
          ...{ title: 'Paint it', author: 'cleo', head: 'paint', reviewers: ['ada'], state: 'merged', merge_method: 'squash' },
          reviews: [{ author: 'ada', state: 'approved', comments: [{ path: 'fin.txt', line: 1, body: 'Nice' }] }],
        },
        { title: 'Add an engine', author: 'ben', head: 'ben:engine', draft: true },
      ],
      releases: [{ tag_name: 'v1', name: 'First' }],
      protected_branches: [{ branch: 'trunk', required_approvals: 1, required_checks: ['build'] }],
      ...{ stargazers: ['ben'], watchers: ['ben'] },
      hooks: [{ url: 'http://127.0.0.1:7999/hook', events: ['issues'], secret: 'ding' }],
    },
    {
      name: 'ben/rocket',
      fork_of: 'acme/rocket',
      commits: [{ message: 'Bigger', branch: 'engine', files: { 'engine.txt': 'a bigger one\n' } }],
    },
  ],
  oauth_applications: [{ name: 'Chimes', owner: 'ada', callback_url: 'https://chimes.example/back', client_id: 'chimes' }],
  apps: [
    {
      ...{
        name: 'Bell Ringer',
        owner: 'ada',
        permissions: { issues: 'write' },
        events: ['issues'],
        webhook_url: 'http://127.0.0.1:7999/app',
      },
      installations: [{ account: 'acme', repositories: ['acme/rocket'] }],
    },
  ],
}

const clientOf = (forge: Forge, { users }: SeedAccess, login: string) => new Person(login, users[login]?.token ?? '', forge)

const readAll = async (client: Person) => ({
  commits: linesOf(await client.read('/repos/acme/rocket/commits?sha=trunk'), 'sha'),
  engine: linesOf(await client.read('/repos/ben/rocket/commits?sha=engine'), 'sha'),
  issues: linesOf(await client.read('/repos/acme/rocket/issues?state=all'), 'id', 'number', 'node_id'),
  repos: linesOf(await client.read('/users/ada/repos'), 'id', 'full_name', 'created_at'),
  events: linesOf(await client.read('/repos/acme/rocket/events'), 'id', 'type', 'created_at'),
})

test('the same seed gives the same ids, commits, events and tokens in every empty database', async () => {
  await using one = await openForge({ own_database: true })
  await using other = await openForge({ own_database: true })
  const [first, second] = [await loadSeed(one.belfry, checkSeed(seed)), await loadSeed(other.belfry, checkSeed(seed))]
  assert.deepEqual(
    [second.users, second.tokens, second.oauth_applications],
    [first.users, first.tokens, first.oauth_applications],
  )
  assert.deepEqual(await readAll(clientOf(other, second, 'ada')), await readAll(clientOf(one, first, 'ada')))
})

test('everything in a seed is there through the API, with its history, inboxes and credentials', async () => {
  await using forge = await openForge()
  const access = await loadSeed(forge.belfry, seed)
  const [ada, ben] = [clientOf(forge, access, 'ada'), clientOf(forge, access, 'ben')]
  const rocket = '/repos/acme/rocket'
  const repo = await ada.read(rocket)
  assert.deepEqual(
    [repo.default_branch, repo.topics, repo.description, repo.stargazers_count],
    ['trunk', ['space'], 'To the moon', 1],
  )
  assert.deepEqual(
    linesOf(await ada.read(`${rocket}/commits?sha=trunk`), 'commit.message', 'commit.author.name', 'commit.author.date'),
    [
      'Paint it (#3)\n cleo 2026-03-01T00:00:04Z',
      'Add a fin\n cleo 2026-02-01T10:00:00Z',
      'Initial commit\n Ada Byron 2026-01-01T09:00:10Z',
    ],
  )
  assert.equal((await ada.get(`${rocket}/contents/old.txt`)).status, 404)
  const protection = await ada.read(`${rocket}/branches/trunk/protection`)
  const { required_pull_request_reviews: reviews, required_status_checks: checks } = protection
  assert.deepEqual([reviews.required_approving_review_count, checks.contexts], [1, ['build']])
  const issues = await ada.read(`${rocket}/issues?state=all&direction=asc`)
  assert.deepEqual(linesOf(issues, 'number', 'title', 'user.login', 'state', 'closed_at'), [
    '1 It leaks ben closed 2026-03-01T00:00:00Z',
    '2 Paint cleo open ',
    '3 Paint it cleo closed 2026-03-01T00:00:04Z',
    '4 Add an engine ben open ',
  ])
  const [leak] = issues
  assert.deepEqual(
    [leak.body, leak.labels[0].name, leak.assignees[0].login, leak.milestone.title, leak.comments],
    ['Fuel {everywhere}. @cleo', 'bug', 'cleo', 'Launch', 1],
  )
  const pulls = await ada.read(`${rocket}/pulls?state=all&direction=asc`)
  assert.deepEqual(linesOf(pulls, 'head.label', 'draft', 'merged_at'), [
    'acme:paint false 2026-03-01T00:00:04Z',
    'ben:engine true ',
  ])
  assert.deepEqual(linesOf(await ada.read(`${rocket}/pulls/3/reviews`), 'user.login', 'state'), ['ada APPROVED'])
  assert.deepEqual(linesOf(await ada.read(`${rocket}/releases`), 'tag_name', 'name'), ['v1 First'])
  assert.deepEqual(linesOf(await ben.read('/notifications'), 'subject.title', 'reason'), [
    'First subscribed',
    'Paint it subscribed',
    'Paint subscribed',
    'It leaks author',
  ])
  assert.deepEqual(linesOf(await ben.read('/users/ada/followers'), 'login'), ['ben'])
  assert.deepEqual(linesOf(await clientOf(forge, access, 'cleo').read('/orgs/acme/teams/builders/members'), 'login'), ['cleo'])
})

test('hooks and apps of a seed are sent nothing of it', async () => {
  await using forge = await openForge()
  const access = await loadSeed(forge.belfry, seed)
  const [hook] = await new Person('ada', access.tokens.ci ?? '', forge).read('/repos/acme/rocket/hooks')
  assert.deepEqual([hook.config.url, hook.active, hook.events], ['http://127.0.0.1:7999/hook', true, ['issues']])
  const { rows } = await forge.belfry.db.query(sql`select from pending_deliveries`)
  assert.equal(rows.length, 0)
  const app = access.apps['bell-ringer']
  assert.ok(app?.installations.acme)
  const { slug } = await asApp(forge, { ...app, pem: app.private_key, webhook_secret: app.webhook_secret ?? '' }).read('/app')
  assert.equal(slug, 'bell-ringer')
  assert.equal(access.oauth_applications.Chimes?.client_id, 'chimes')
})

test('what the product refuses names the part of the seed', async () => {
  await using forge = await openForge()
  const outsider = parseSeed(
    'users: [{ login: ada }, { login: ben }]\nrepositories:\n  - name: ada/vault\n    private: true\n    issues:\n      - title: Hello\n        author: ben\n',
    'seed.yaml',
  )
  await assert.rejects(loadSeed(forge.belfry, outsider), {
    message:
      'seed.yaml has an error:\n  seed.yaml:6 repositories[0].issues[0]: "ben" has no access to ada/vault. Add "ben" to the collaborators of ada/vault, or name someone else here',
  })
})

test('acts that share a transaction keep their own times, in logs, histories and inboxes', async () => {
  await using forge = await openForge()
  const access = await loadSeed(forge.belfry, {
    users: [{ login: 'ada' }, { login: 'ben' }, { login: 'cleo' }],
    repositories: [
      {
        ...{ name: 'ada/rocket', at: '2026-02-01T00:00:00Z', watchers: ['cleo'], labels: [{ name: 'bug' }] },
        issues: [
          {
            title: 'One',
            body: 'See @ben',
            comments: [
              { author: 'ada', body: 'Still' },
              { author: 'ben', body: 'Fixed?', at: '2026-02-03' },
            ],
          },
          { title: 'Two', author: 'ben', at: '2026-02-04', labels: ['bug'], state: 'closed', closed_at: '2026-02-05' },
        ],
      },
    ],
  })
  const [ada, ben, cleo] = ['ada', 'ben', 'cleo'].map((login) => clientOf(forge, access, login)) as [Person, Person, Person]
  const rocket = '/repos/ada/rocket'
  assert.deepEqual(linesOf((await ada.read(`${rocket}/events`)).slice(0, 6), 'type', 'payload.action', 'created_at'), [
    'IssuesEvent closed 2026-02-05T00:00:00Z',
    'IssuesEvent labeled 2026-02-04T00:00:00Z',
    'IssuesEvent opened 2026-02-04T00:00:00Z',
    'IssueCommentEvent created 2026-02-03T00:00:00Z',
    'IssueCommentEvent created 2026-02-01T00:00:04Z',
    'IssuesEvent opened 2026-02-01T00:00:03Z',
  ])
  assert.deepEqual(linesOf(await ada.read(`${rocket}/issues/2/events`), 'event', 'created_at'), [
    'labeled 2026-02-04T00:00:00Z',
    'closed 2026-02-05T00:00:00Z',
  ])
  assert.deepEqual(linesOf(await ben.read('/notifications?all=true'), 'subject.title', 'reason', 'updated_at'), [
    'One mention 2026-02-01T00:00:04Z',
  ])
  assert.deepEqual(linesOf(await cleo.read('/notifications'), 'subject.title', 'reason', 'updated_at'), [
    'Two subscribed 2026-02-05T00:00:00Z',
    'One subscribed 2026-02-03T00:00:00Z',
  ])
})

test('the example in docs/seed.md loads', async () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'seed.md'), 'utf8')
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(page) ?? []
  await using forge = await openForge()
  const access = await loadSeed(forge.belfry, parseSeed(example, 'docs/seed.md'))
  assert.equal(access.tokens['dana-ci'], 'bfp_danas-token-for-continuous-integration')
  assert.deepEqual(Object.keys(access.apps), ['countdown'])
  const dana = clientOf(forge, access, 'dana')
  assert.deepEqual(linesOf(await dana.read('/repos/acme/rocket/issues?state=all&direction=asc'), 'number', 'title', 'state'), [
    '1 It leaks when it rains open',
    '2 Paint it red closed',
    '3 Double the thrust open',
  ])
})

test('the site admin can have tokens with fixed values', async () => {
  await using forge = await openForge()
  const access = await loadSeed(forge.belfry, {
    users: [{ login: 'admin', name: 'Root', tokens: [{ name: 'root', value: 'bfp_the-token-of-the-admin' }] }],
  })
  assert.equal(access.users.admin?.token, 'bfp_the-token-of-the-admin')
  const admin = clientOf(forge, access, 'admin')
  assert.deepEqual(linesOf([await admin.read('/user')], 'login', 'name', 'site_admin'), ['admin Root true'])
})
