import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { longestPassword, preparePassword, shortestPassword } from '#identity/passwords.ts'
import { checkSeed } from './check.ts'
import { parseSeed } from './parse.ts'
import { readSeedFile } from './read-seed-file.ts'

const messageOf = (act: () => unknown): string => {
  try {
    act()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the seed was accepted')
}
/** The errors without the line above them. */
const errorsOf = (text: string) =>
  messageOf(() => parseSeed(text, 'seed.yaml'))
    .split('\n  ')
    .slice(1)
    .map((line) => line.replace('seed.yaml:', ''))
const ada = 'users: [{ login: ada }]\nrepositories:\n  - name: ada/x\n'

test('what newcomers write for our keys and lists leads to the right ones', () => {
  const root = 'The keys here are start, users, organizations, repositories, oauth_applications, apps'
  assert.deepEqual(errorsOf('repos: []\norgs: []\nconstructor: 1'), [
    `1 repos: unknown key "repos". Did you mean "repositories"? ${root}`,
    '2 orgs: unknown key "orgs". Did you mean "organizations"?',
    `3 constructor: unknown key "constructor". ${root}`,
  ])
  for (const [text, expected] of [
    ['users: [ada]', '1 users[0]: must be a map of keys and values, not the text "ada". Write { login: ada }'],
    [
      'users:\n  - login ada',
      '2 users[0]: must be a map of keys and values, not the text "login ada". A key is followed by a colon: "login: ada"',
    ],
    [
      'users:\n  login: ada',
      '1 users: must be a list, not a map of keys and values. Begin each item with a hyphen: "- login: …"',
    ],
    ['users: [{ login: ada, follows: ben }]', '1 users[0].follows: must be a list, not the text "ben". Write [ben]'],
    [
      'users: [{ login: ada, tokens: bfp_abc }]',
      '1 users[0].tokens: must be a list, not the text "bfp_abc". Write { name: …, value: bfp_abc }',
    ],
    [`${ada}    private: yes`, '4 repositories[0].private: must be true or false, not the text "yes"'],
    [
      `${ada}    labels: [{ name: bug, color: 000000 }]`,
      '4 repositories[0].labels[0].color: must be a text, not a whole number. Write it in quotes',
    ],
    [
      `${ada}    labels:\n      - name: bug\n        color: #fff`,
      '6 repositories[0].labels[0].color: must be a text, not empty. Give it a value, or remove the key. A value that begins with # needs quotes',
    ],
  ] as const)
    assert.deepEqual(errorsOf(text), [expected])
})

test('a name that differs in upper and lower case only is named', () => {
  assert.deepEqual(errorsOf(`${ada}    issues:\n      - title: One\n        author: Ada`), [
    '6 repositories[0].issues[0].author: there is no user "Ada" in the seed, but "ada". Upper and lower case must be the same',
  ])
})

test('scopes, events and permissions that do not exist suggest the nearest, or list them', () => {
  const [near, far] = errorsOf('users:\n  - login: ada\n    tokens: [{ name: ci, scopes: [Repo, everything] }]')
  assert.equal(near, '3 users[0].tokens[0].scopes[0]: there is no scope "Repo". Did you mean "repo"?')
  assert.match(far ?? '', /scopes\[1\]: there is no scope "everything"\. Choose from: repo, repo:status, .*notifications/)
  const app = 'apps:\n  - name: X\n    owner: ada\n    permissions: { issue: write }\n    events:\n      - issues\n      - pushh'
  assert.deepEqual(errorsOf(`users: [{ login: ada }]\n${app}`), [
    '5 apps[0].permissions.issue: there is no permission "issue". Did you mean "issues"?',
    '8 apps[0].events[1]: there is no event "pushh". Did you mean "push"?',
    '7 apps[0].events[0]: "issues" needs the permission issues: read',
  ])
  const [event] = errorsOf(`${ada}    hooks:\n      - url: http://localhost/\n        events:\n          - xyzzy`)
  assert.match(event ?? '', /^7 repositories\[0\]\.hooks\[0\]\.events\[0\]: there is no event "xyzzy"\. Choose from: .*issues/)
})

test('a password has the length that the server asks for', async () => {
  for (const length of [shortestPassword - 1, shortestPassword, longestPassword, longestPassword + 1]) {
    const password = 'x'.repeat(length)
    const isTaken = await preparePassword(password).then(
      () => true,
      () => false,
    )
    const check = () => checkSeed({ users: [{ login: 'ada', password }] })
    if (isTaken) check()
    else assert.match(messageOf(check), new RegExp(`users\\[0\\]\\.password: .* ${length}`))
  }
  assert.deepEqual(errorsOf('users:\n  - login: ada\n    password: secret'), [
    '3 users[0].password: must have 8 to 256 characters, not 6',
  ])
})

test('what YAML does not allow is said in plain words, with the line', () => {
  for (const [text, expected] of [
    ['users:\n\t- login: ada', '2: indentation must be spaces, not tabs'],
    [
      `${ada}    issues:\n      - title: Bug: it leaks`,
      '5: a text with a colon and a space must be in quotes, or the indentation is wrong',
    ],
    [`${ada}    description: @ada`, '4: a text that begins with @ must be in quotes'],
    ['users:\n  - login: ada\n   name: Ada', '3: the indentation differs from the lines above'],
    ['users: [{ login: "ada }]', '1: a text begins with " further up and does not end with it'],
    ['{ "users": [ { "login": "ada" } ]', '1: the } that belongs to a bracket further up is missing'],
    ['users: []\n---\nusers: []', '2: a seed is one document. Remove the line "---"'],
    ['users:\n  - *ada', '2: "*ada" refers to "&ada", which is not further up. A text that begins with * must be in quotes'],
  ] as const)
    assert.equal(errorsOf(text)[0], expected)
})

test('a file that is no seed says what it is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-seed-'))
  const path = join(folder, 'seed.yaml')
  const written = (bytes: string | Buffer) => {
    writeFileSync(path, bytes)
    return messageOf(() => readSeedFile(path)).replaceAll(folder, '')
  }
  try {
    const keys = 'A seed has keys such as "users:" and "repositories:", see docs/seed.md.'
    assert.equal(written(''), `/seed.yaml is empty. ${keys}`)
    assert.equal(written('# to do\n'), `/seed.yaml is empty: it has comments only. ${keys}`)
    assert.match(written('login,name\nada,Ada\n'), /seed\.yaml:1: must have keys such as "users:" .*, and not be a text$/)
    assert.match(written('- login: ada'), /seed\.yaml:1: must have keys such as "users:" .*, and not be a list$/)
    const encoded = '/seed.yaml is not text in UTF-8. Save it as UTF-8, in YAML or JSON.'
    assert.equal(written(Buffer.from('users: [{ login: ada, name: René }]', 'latin1')), encoded)
    assert.equal(written(Buffer.from('users: []', 'utf16le')), encoded)
    assert.equal(written(`#${'x'.repeat(11 << 20)}`), '/seed.yaml is larger than 10 MB, the limit of a seed.')
    const none = join(folder, 'sede.yaml')
    assert.equal(
      messageOf(() => readSeedFile(none)),
      `There is no file ${none}. Name the file of the seed, in YAML or JSON.`,
    )
    mkdirSync(join(folder, 'seeds'))
    assert.match(
      messageOf(() => readSeedFile(join(folder, 'seeds'))),
      /seeds is a folder\. Name the file of the seed in it/,
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
