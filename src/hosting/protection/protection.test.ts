import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engine, join } from '#test/conversations.ts'
import { checkVisits } from '#test/documented.ts'
import { errorsOf, expect, injecting, linesOf, type Person } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

const inject = injecting(openWithTopic)

const nothing = {
  required_status_checks: null,
  enforce_admins: null,
  required_pull_request_reviews: null,
  restrictions: null,
}
const all = {
  required_status_checks: { strict: true, contexts: ['ci', 'lint'] },
  enforce_admins: true,
  required_pull_request_reviews: { dismiss_stale_reviews: true, required_approving_review_count: 2 },
  restrictions: null,
  required_linear_history: true,
  allow_force_pushes: true,
  allow_deletions: true,
}
const main = `${engine}/branches/main/protection`

const protect = async (who: Person, rules: Record<string, unknown> = {}, path = main) =>
  expect(200, await who.put(path, { ...nothing, ...rules }))

test('every response about protected branches matches the public documentation, on both variants', inject(async ({
  forge,
  ada,
  ben,
}) => {
  await forge.organization('acme', ada)
  await expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme' }))
  const works = '/repos/acme/engine'
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' }))
  await expect(204, await ada.put('/orgs/acme/teams/core/repos/acme/engine', { permission: 'push' }))
  const path = `${works}/branches/topic/protection`
  const people = { users: ['ben'], teams: ['core'] }
  const sparse = { strict: false, contexts: ['ci'], checks: null }
  const lists = { users: null, teams: null, apps: null }
  await checkVisits(ada, {}, [
    [
      'repos/update-branch-protection',
      200,
      'put',
      path,
      // As go-github sends what is not set.
      {
        ...nothing,
        required_status_checks: sparse,
        restrictions: lists,
        required_pull_request_reviews: { dismissal_restrictions: lists },
      },
    ],
    [
      'repos/update-branch-protection',
      200,
      'put',
      path,
      {
        ...all,
        restrictions: { ...people, apps: [] },
        required_pull_request_reviews: { dismissal_restrictions: people, bypass_pull_request_allowances: people },
      },
    ],
    ['repos/get-branch-protection', 200, 'get', path],
    ['repos/get-admin-branch-protection', 200, 'get', `${path}/enforce_admins`],
    ['repos/delete-admin-branch-protection', 204, 'delete', `${path}/enforce_admins`],
    ['repos/set-admin-branch-protection', 200, 'post', `${path}/enforce_admins`],
    ['repos/create-commit-signature-protection', 200, 'post', `${path}/required_signatures`],
    ['repos/get-commit-signature-protection', 200, 'get', `${path}/required_signatures`],
    ['repos/delete-commit-signature-protection', 204, 'delete', `${path}/required_signatures`],
    ['repos/get-pull-request-review-protection', 200, 'get', `${path}/required_pull_request_reviews`],
    [
      'repos/update-pull-request-review-protection',
      200,
      'patch',
      `${path}/required_pull_request_reviews`,
      { required_approving_review_count: 3, dismissal_restrictions: {} },
    ],
    ['repos/get-status-checks-protection', 200, 'get', `${path}/required_status_checks`],
    [
      'repos/update-status-check-protection',
      200,
      'patch',
      `${path}/required_status_checks`,
      { strict: false, checks: [{ context: 'ci', app_id: -1 }] },
    ],
    ['repos/get-all-status-check-contexts', 200, 'get', `${path}/required_status_checks/contexts`],
    ['repos/add-status-check-contexts', 200, 'post', `${path}/required_status_checks/contexts`, { contexts: ['a', 'ci'] }],
    ['repos/remove-status-check-contexts', 200, 'delete', `${path}/required_status_checks/contexts`, ['a']],
    ['repos/set-status-check-contexts', 200, 'put', `${path}/required_status_checks/contexts`, ['b', 'c']],
    ['repos/get-access-restrictions', 200, 'get', `${path}/restrictions`],
    ['repos/get-users-with-access-to-protected-branch', 200, 'get', `${path}/restrictions/users`],
    ['repos/get-teams-with-access-to-protected-branch', 200, 'get', `${path}/restrictions/teams`],
    ['repos/get-apps-with-access-to-protected-branch', 200, 'get', `${path}/restrictions/apps`],
    ['repos/add-user-access-restrictions', 200, 'post', `${path}/restrictions/users`, { users: ['cy'] }],
    ['repos/remove-user-access-restrictions', 200, 'delete', `${path}/restrictions/users`, ['BEN']],
    ['repos/set-team-access-restrictions', 200, 'put', `${path}/restrictions/teams`, []],
    ['repos/add-team-access-restrictions', 200, 'post', `${path}/restrictions/teams`, { teams: ['core'] }],
    ['repos/get-branch', 200, 'get', `${works}/branches/topic`],
    ['repos/list-branches', 200, 'get', `${works}/branches`],
    ['repos/delete-access-restrictions', 204, 'delete', `${path}/restrictions`],
    ['repos/remove-status-check-protection', 204, 'delete', `${path}/required_status_checks`],
    ['repos/delete-pull-request-review-protection', 204, 'delete', `${path}/required_pull_request_reviews`],
    ['repos/delete-branch-protection', 204, 'delete', path],
  ])
  await expect(403, await ben.get(path))
}))

test('a branch shows its protection, also by a name with slashes', inject(async ({ ada, nobody, work }) => {
  await work.push('main:refs/heads/release/1.0')
  const path = `${engine}/branches/release/1.0/protection`
  await expect(404, await ada.get(path))
  const made = await protect(ada, { required_status_checks: { strict: false, checks: [{ context: 'ci' }] } }, path)
  assert.deepEqual(made.required_status_checks.contexts, ['ci'])
  assert.deepEqual(await ada.read(made.url), made)
  assert.deepEqual(await ada.read(`${engine}/branches/release%2F1.0/protection`), made)
  const branch = await nobody.read(`${engine}/branches/release/1.0`)
  assert.partialDeepStrictEqual(branch, {
    protected: true,
    protection: { enabled: true, required_status_checks: { enforcement_level: 'non_admins', contexts: ['ci'] } },
    protection_url: made.url,
  })
  const names = async (query: string) => linesOf(await nobody.read(`${engine}/branches${query}`), 'name', 'protected')
  assert.deepEqual(await names(''), ['main false', 'release/1.0 true', 'topic false'])
  assert.deepEqual(await names('?protected=true'), ['release/1.0 true'])
  assert.deepEqual(await names('?protected=false'), ['main false', 'topic false'])
}))

test('a change of a protection is sent to hooks, with what it was before', inject(async ({ forge, ada }) => {
  await hookOn(ada, 'repos/ada/engine', 'branch_protection_rule')
  const heard = await heardOf(forge, async () => {
    await protect(ada, all)
    await protect(ada, { ...all, enforce_admins: false, required_status_checks: null })
    // The same rules again.
    await protect(ada, { ...all, enforce_admins: false, required_status_checks: null })
    await expect(200, await ada.post(`${main}/enforce_admins`))
    await expect(204, await ada.delete(main))
  })
  for (const { event, payload } of heard) checkPayload(event, payload)
  assert.deepEqual(linesOf(heard, 'event', 'payload.action'), [
    'branch_protection_rule created',
    'branch_protection_rule edited',
    'branch_protection_rule edited',
    'branch_protection_rule deleted',
  ])
  assert.partialDeepStrictEqual(heard[1]?.payload, {
    rule: { name: 'main', required_approving_review_count: 2, admin_enforced: false },
    changes: { admin_enforced: { from: true }, required_status_checks: { from: ['ci', 'lint'] } },
    sender: { login: 'ada' },
  })
}))

test('a wrong protection is refused', inject(async ({ forge, ada, ben, cy, dan, nobody }) => {
  for (const wrong of [
    {},
    { ...nothing, restrictions: undefined },
    { ...nothing, enforce_admins: 'yes' },
    { ...nothing, required_status_checks: { strict: 1, contexts: [] } },
    { ...nothing, required_status_checks: { strict: true, contexts: ['x'.repeat(256)] } },
    { ...nothing, required_status_checks: { strict: true, contexts: Array(101).fill('x') } },
    { ...nothing, required_status_checks: { strict: true, checks: [{}] } },
    { ...nothing, required_pull_request_reviews: { required_approving_review_count: 7 } },
    { ...nothing, restrictions: { users: ['ben'], teams: [] } },
    // Rules that Belfry would not enforce.
    { ...nothing, required_pull_request_reviews: { require_code_owner_reviews: true } },
    { ...nothing, required_pull_request_reviews: { require_last_push_approval: true } },
  ]) {
    await expect(422, await ada.put(main, wrong))
  }
  assert.equal((await expect(404, await ada.get(main))).message, 'Branch not protected')
  assert.equal((await expect(404, await ada.put(`${engine}/branches/gone/protection`, nothing))).message, 'Branch not found')
  for (const [method, path] of [
    ['delete', ''],
    ['post', '/enforce_admins'],
    ['delete', '/required_signatures'],
    ['delete', '/required_status_checks'],
    ['delete', '/restrictions'],
  ] as const) {
    await expect(404, await ada[method](`${main}${path}`))
  }
  await expect(404, await ada.post(`${main}/required_status_checks/contexts`, ['x']))
  await join(ada, dan, 'maintain')
  for (const who of [ben, cy, dan]) {
    await expect(403, await who.get(main))
    await expect(403, await who.put(main, nothing))
    await expect(403, await who.delete(main))
  }
  await expect(401, await nobody.get(main))
  await expect(403, await (await forge.tokenFor('ada', ['user'])).get(main))
  await expect(200, await ada.patch(engine, { private: true }))
  await expect(404, await nobody.get(main))
  assert.deepEqual(errorsOf(forge), [])
}))

test('lists of users and teams belong to repositories of organizations, and name what is there', inject(async ({
  forge,
  ada,
}) => {
  await forge.organization('acme', ada)
  await expect(201, await ada.post('/orgs/acme/repos', { name: 'works', auto_init: true }))
  await expect(201, await ada.post('/orgs/acme/teams', { name: 'Hidden', privacy: 'secret' }))
  const path = '/repos/acme/works/branches/main/protection'
  const restrict = (restrictions: object) => ada.put(path, { ...nothing, restrictions })
  for (const wrong of [
    { users: ['nope'], teams: [] },
    { users: ['acme'] },
    { teams: ['hidden'] },
    { users: [], apps: ['bot'] },
  ]) {
    await expect(422, await restrict(wrong))
  }
  const made = await expect(200, await restrict({ users: ['ben', 'Ben'], teams: [] }))
  assert.deepEqual(linesOf(made.restrictions.users, 'login'), ['ben'])
}))
