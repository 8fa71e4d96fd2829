import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSeed } from './check.ts'
import { parseSeed } from './parse.ts'
import { planSeed } from './plan.ts'

const messageOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the seed was accepted')
}
const keysOfUser = 'The keys here are login, name, email, password, bio, company, location, site_admin, tokens, follows'
const linesOf = (text: string) =>
  messageOf(() => parseSeed(text, 'seed.yaml'))
    .split('\n  ')
    .slice(1)

test('unknown keys and wrong types are named with their lines, all at once, with the nearest known key', () => {
  const text = `
users:
  - login: ada
    nmae: Ada
    password: 12345
  - login: -x
repositories:
  - name: rocket
    issues:
      - body: no title
        state: done
    hooks:
`
  assert.deepEqual(linesOf(text), [
    `seed.yaml:4 users[0].nmae: unknown key "nmae". Did you mean "name"? ${keysOfUser}`,
    'seed.yaml:5 users[0].password: must be a text, not a whole number. Write it in quotes: "12345"',
    'seed.yaml:6 users[1].login: must be a login: up to 39 letters, digits and single hyphens',
    'seed.yaml:8 repositories[0].name: must be owner/name, such as acme/rocket',
    'seed.yaml:11 repositories[0].issues[0].state: must be one of open, closed',
    'seed.yaml:10 repositories[0].issues[0]: the key "title" is missing',
    'seed.yaml:12 repositories[0].hooks: must be a list, not empty. Give it a value, or remove the key',
  ])
})

test('dangling references and impossible combinations are named with their lines', () => {
  const text = `
user: 1
users:
  - { login: ada, follows: [ben, ada], tokens: [{ name: ci, scopes: [rpeo] }] }
  - { login: Ada }
organizations:
  - { login: acme, owners: [ada], members: [dora], teams: [{ name: Core, members: [dan] }], hooks: [{ url: 'http://localhost/', events: [pusj] }] }
repositories:
  - name: acme/rocket
    labels: [{ name: bug }]
    files: { ../x: no }
    commits: [{ message: Fix, branch: fix, from: mian, files: {} }]
    issues:
      - { title: One, author: adda, labels: [bugs], milestone: Launch, closed_at: 2026-02-01 }
    pull_requests:
      - { title: Two, author: ada, head: 'ben:fix', base: main, reviews: [{ author: ada, state: approved }] }
  - { name: dora/rocket, fork_of: acme/rockt }
`
  const found = linesOf(text)
  const expected = [
    ':2 user: unknown key "user". Did you mean "users"? The keys here are start, users, organizations, repositories, oauth_applications, apps',
    ':5 users[1].login: "Ada" is there already as "ada": upper and lower case do not count',
    ':5 users[1].email: "Ada@example.com" is there already as "ada@example.com": upper and lower case do not count',
    ':4 users[0].tokens[0].scopes[0]: there is no scope "rpeo". Did you mean "repo"?',
    ':4 users[0].follows[0]: there is no user "ben" in the seed. Add it, or choose from: admin, ada, Ada',
    ':4 users[0].follows[1]: a user cannot follow themselves',
    ':7 organizations[0].members[0]: there is no user "dora" in the seed. Add it, or choose from: admin, ada, Ada',
    ':7 organizations[0].teams[0].members[0]: there is no member of acme "dan" in the seed. Add it, or choose from: ada, dora',
    ':7 organizations[0].hooks[0].events[0]: there is no event "pusj". Did you mean "push"?',
    ':11 repositories[0].files["../x"]: is not a path that git accepts: relative, without empty parts, ".." and ".git"',
    ':12 repositories[0].commits[0].from: there is no branch "mian" in the seed. Did you mean "main"?',
    ':17 repositories[1].name: there is no user or organization "dora" in the seed. Add it, or choose from: admin, ada, Ada, acme',
    ':17 repositories[1].fork_of: there is no repository "acme/rockt" in the seed. Did you mean "acme/rocket"?',
    ':14 repositories[0].issues[0].author: there is no user "adda" in the seed. Did you mean "ada"?',
    ':14 repositories[0].issues[0].labels[0]: there is no label of acme/rocket "bugs" in the seed. Did you mean "bug"?',
    ':14 repositories[0].issues[0].milestone: there is no milestone of acme/rocket "Launch" in the seed, nor any other',
    ':14 repositories[0].issues[0].closed_at: needs "state: closed" or "state: merged"',
    ':16 repositories[0].pull_requests[0].head: there is no branch "ben:fix" in the seed. Add it, or choose from: acme:main, acme:fix',
    ':16 repositories[0].pull_requests[0].reviews[0].state: an author can only comment on their own pull request',
  ]
  assert.deepEqual(
    found,
    expected.map((line) => `seed.yaml${line}`),
  )
})

test('wrong types, references and dates are reported together, without faults that only follow from others', () => {
  const text = `
users:
  - { login: api, email: nowhere, password: 12345678 }
  - { login: ben, bio: [] }
repositories:
  - name: ben/rocket
    issues:
      - { author: bne, state: done, closed_at: 2026-02-01 }
      - { title: Two, at: 2026-02-30, comments: [{ author: bne }] }
`
  assert.deepEqual(
    linesOf(text),
    [
      ':3 users[0].password: must be a text, not a whole number. Write it in quotes: "12345678"',
      ':4 users[1].bio: must be a text, not a list',
      ':8 repositories[0].issues[0].state: must be one of open, closed',
      ':8 repositories[0].issues[0]: the key "title" is missing',
      ':9 repositories[0].issues[1].comments[0]: the key "body" is missing',
      ":3 users[0].login: login 'api' is reserved",
      ':3 users[0].email: email must be an e-mail address',
      ':8 repositories[0].issues[0].author: there is no user "bne" in the seed. Did you mean "ben"?',
      ':9 repositories[0].issues[1].comments[0].author: there is no user "bne" in the seed. Did you mean "ben"?',
      ':9 repositories[0].issues[1].at: "2026-02-30" is not a date of the calendar',
    ].map((line) => `seed.yaml${line}`),
  )
  const nameless = 'users: [{ lgoin: ada }]\nrepositories: [{ name: ada/x }]'
  assert.deepEqual(linesOf(nameless), [
    `seed.yaml:1 users[0].lgoin: unknown key "lgoin". Did you mean "login"? ${keysOfUser}`,
    'seed.yaml:1 users[0]: the key "login" is missing',
  ])
})

test('JSON has the same checks and lines as YAML, and what is neither says where', () => {
  const json = '{\n  "users": [\n    { "login": "ada", "nmae": "Ada" }\n  ]\n}'
  assert.equal(
    messageOf(() => parseSeed(json, 'seed.json')).split('\n')[1],
    `  seed.json:3 users[0].nmae: unknown key "nmae". Did you mean "name"? ${keysOfUser}`,
  )
  assert.match(
    messageOf(() => parseSeed('users:\n  - [', 'seed.yaml')),
    /^seed\.yaml is not valid YAML or JSON:\n {2}seed\.yaml:2: /,
  )
  assert.match(
    messageOf(() => parseSeed('users: []\nusers: []', 'seed.yaml')),
    /seed\.yaml:2: this key is there twice in the same map/,
  )
  assert.match(
    messageOf(() => parseSeed(`# ${'x'.repeat(11 << 20)}`, 'seed.yaml')),
    /larger than 10 MB/,
  )
})

test('an alias that multiplies itself is refused', () => {
  const rows = Array.from({ length: 9 }, (_, row) => `a${row + 1}: &a${row + 1} [${Array(9).fill(`*a${row}`)}]`)
  assert.match(
    messageOf(() => parseSeed(['a0: &a0 [x]', ...rows].join('\n'), 'seed.yaml')),
    /Excessive alias count/,
  )
})

test('a typed object has the same checks, and errors name the path', () => {
  const seed = { users: [{ login: 'ada' }], repositories: [{ name: 'ada/x', issues: [{ title: 'One', author: 'adda' }] }] }
  assert.equal(
    messageOf(() => checkSeed(seed)),
    'The seed has an error:\n  repositories[0].issues[0].author: there is no user "adda" in the seed. Did you mean "ada"?',
  )
  assert.match(
    messageOf(() => checkSeed('ada')),
    /The seed has an error:\n {2}seed: must have keys such as "users:" and "repositories:", and not be a text/,
  )
  const many = { users: Array.from({ length: 80 }, () => ({})) }
  assert.equal(messageOf(() => checkSeed(many)).split('\n').length, 52)
})

test('without dates the acts follow the file, a second apart; a date moves only what follows it in its repository', () => {
  const repository = (name: string, at: string) => ({ name, files: {}, issues: [{ title: 'One', at }, { title: 'Two' }] })
  const { steps } = planSeed(
    checkSeed({
      users: [{ login: 'ada' }],
      repositories: [repository('ada/x', '2026-05-01'), repository('ada/y', '2026-03-01')],
    }),
  )
  const issues = steps.filter(({ path }) => path.includes('issues'))
  assert.deepEqual(
    issues.map(({ path, at }) => `${path[1]} ${path[3]} ${at.toISOString()}`),
    [
      '1 0 2026-03-01T00:00:00.000Z',
      '1 1 2026-03-01T00:00:01.000Z',
      '0 0 2026-05-01T00:00:00.000Z',
      '0 1 2026-05-01T00:00:01.000Z',
    ],
  )
  assert.deepEqual(
    steps.slice(0, 3).map(({ at }) => at.toISOString().slice(11, 19)),
    ['09:00:01', '09:00:02', '09:00:03'],
  )
})

test('a date before what it belongs to, or that no calendar has, is an error', () => {
  const seed = (at: string, comment: string) => ({
    users: [{ login: 'ada' }],
    repositories: [{ name: 'ada/x', issues: [{ title: 'One', at, comments: [{ body: 'Yes', at: comment }] }] }],
  })
  assert.match(
    messageOf(() => checkSeed(seed('2025-12-31', '2026-02-01'))),
    /issues\[0\]\.at: 2025-12-31 is before what it belongs to begins \(2026-01-01T09:00:02Z\)/,
  )
  assert.match(
    messageOf(() => checkSeed(seed('2026-03-01', '2026-02-01'))),
    /comments\[0\]\.at: 2026-02-01 is before/,
  )
  assert.match(
    messageOf(() => checkSeed(seed('2026-02-30', '2026-03-01'))),
    /issues\[0\]\.at: "2026-02-30" is not a date of the calendar/,
  )
})

test('names that git cannot have beside each other are an error', () => {
  const commits = ['fix', 'fix/leak'].map((branch) => ({ message: 'Fix', branch, files: { [branch]: 'x' } }))
  const seed = {
    users: [{ login: 'ada' }],
    repositories: [{ name: 'ada/x', files: {}, commits, tags: [{ name: 'v/1' }, { name: 'v' }] }],
  }
  assert.deepEqual(
    messageOf(() => checkSeed(seed))
      .split('\n  ')
      .slice(1),
    [
      'repositories[0].commits: git cannot have both "fix" and "fix/leak"',
      'repositories[0].tags: git cannot have both "v" and "v/1"',
    ],
  )
})

test('a fork has the default branch of its parent', () => {
  const parent = { name: 'ada/x', default_branch: 'trunk', files: { a: 'a' } }
  const fork = { name: 'ben/x', fork_of: 'ada/x', commits: [{ message: 'More', files: { b: 'b' } }], tags: [{ name: 'v1' }] }
  const users = [{ login: 'ada' }, { login: 'ben' }]
  assert.ok(checkSeed({ users, repositories: [parent, fork] }))
  assert.match(
    messageOf(() => checkSeed({ users, repositories: [parent, { ...fork, default_branch: 'main' }] })),
    /repositories\[1\]\.default_branch: a fork has this from its parent/,
  )
})
