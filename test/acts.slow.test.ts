import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  type ActName,
  acts,
  meaningOf,
  noticeRules,
  type OrganizationActName,
  organizationActs,
  organizationWebhooksOf,
  webhooksOf,
} from '#activity/acts.ts'
import { sql } from '#platform/database.ts'
import { openChecker } from './apps.ts'
import { engine } from './conversations.ts'
import { subscribe } from './feeds.ts'
import { expect, type Forge } from './forge.ts'
import { Guest } from './guest.ts'
import { openWithTopic } from './pulls.ts'
import { checkPayload } from './webhook-schemas.ts'
import { heardOf, hookOn } from './webhooks.ts'

type World = Awaited<ReturnType<typeof openWithChecker>>

/** An app gets the requests for its own checks. It is not asked to check pushes, which would be one more act of each. */
async function openWithChecker() {
  const world = await openWithTopic({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  const hook = { hook_attributes: { url: 'belfry:listen' }, default_events: ['check_suite', 'check_run'] }
  const bot = await openChecker(world, world.ada, hook)
  const auto_trigger_checks = [{ app_id: bot.app.id, setting: false }]
  await expect(200, await world.ada.patch(`${engine}/check-suites/preferences`, { auto_trigger_checks }))
  return Object.assign(world, { bot })
}

/** Each step does something by the API. The receivers must get what the table says of the step's acts, and nothing else. */
interface Step {
  acts: (ActName | OrganizationActName)[]
  run: (world: World) => Promise<unknown>
}

const issue = `${engine}/issues/1`
const pull = `${engine}/pulls/2`
const asIssue = `${engine}/issues/2`
const protection = `${engine}/branches/main/protection`
const unprotected = {
  required_status_checks: null,
  enforce_admins: null,
  required_pull_request_reviews: null,
  restrictions: null,
}
const publicKey = `ssh-ed25519 ${Buffer.concat([Buffer.from('0000000b', 'hex'), Buffer.from('ssh-ed25519'), Buffer.from('00000020', 'hex'), Buffer.alloc(32, 7)]).toString('base64')}`
const ids: Record<string, number> = {}
const step = (run: Step['run'], ...names: Step['acts']): Step => ({ acts: names, run })
const keep = async (name: string, answer: Promise<Response>) => {
  ids[name] = (await expect(201, await answer)).id
}

/** On the page, because the REST interface has no request for it. */
async function setResolved(world: World, resolved: 'yes' | 'no') {
  const ada = new Guest(world)
  await ada.signIn('ada')
  const { status } = await ada.fill('/ada/engine/pull/2', { resolved }, `/ada/engine/pull/2/threads/${ids.line}/resolution`)
  assert.equal(status, 303)
}

/** Steps that issues and pull requests share. */
const triage = (noun: 'issue' | 'pull', path: string): Step[] => [
  step(async ({ ada }) => expect(200, await ada.patch(path, { body: 'New' })), `${noun}.edited`),
  step(async ({ ada }) => expect(200, await ada.patch(path, { title: 'Steam' })), `${noun}.edited`, `${noun}.renamed`),
  step(async ({ ada }) => expect(200, await ada.patch(path, { milestone: 1 })), `${noun}.milestoned`),
  step(async ({ ada }) => expect(200, await ada.patch(path, { milestone: null })), `${noun}.demilestoned`),
  step(async ({ ada }) => expect(201, await ada.post(`${path}/assignees`, { assignees: ['ben'] })), `${noun}.assigned`),
  step(async ({ ada }) => expect(200, await ada.delete(`${path}/assignees`, { assignees: ['ben'] })), `${noun}.unassigned`),
  step(async ({ ada }) => expect(200, await ada.post(`${path}/labels`, { labels: ['bug'] })), `${noun}.labeled`),
  step(async ({ ada }) => expect(200, await ada.delete(`${path}/labels/bug`)), `${noun}.unlabeled`),
  step(async ({ ada }) => expect(204, await ada.put(`${path}/lock`)), `${noun}.locked`),
  step(async ({ ada }) => expect(204, await ada.delete(`${path}/lock`)), `${noun}.unlocked`),
  step(async ({ ada }) => expect(200, await ada.patch(path, { state: 'closed' })), `${noun}.closed`),
]

const team = '/orgs/acme/teams/core'
/** Steps in the organization `acme` with its repository `new`. */
const organizationSteps: Step[] = [
  step(async ({ ada }) => expect(200, await ada.put('/orgs/acme/memberships/ben')), 'organization.member_added'),
  step(
    async ({ ada }) => expect(201, await ada.post('/orgs/acme/teams', { name: 'Core', privacy: 'closed' })),
    'team.created',
    'team.member_added',
  ),
  step(async ({ ada }) => expect(200, await ada.patch(team, { description: 'The core' })), 'team.edited'),
  step(async ({ ada }) => expect(200, await ada.put(`${team}/memberships/cy`)), 'organization.member_added', 'team.member_added'),
  step(async ({ ada }) => expect(204, await ada.delete(`${team}/memberships/cy`)), 'team.member_removed'),
  step(async ({ ada }) => expect(204, await ada.put(`${team}/repos/acme/new`)), 'team.added_to_repository'),
  step(async ({ ada }) => expect(204, await ada.put(`${team}/repos/acme/new`, { permission: 'push' })), 'team.access_edited'),
  step(async ({ ada }) => expect(204, await ada.delete(`${team}/repos/acme/new`)), 'team.removed_from_repository'),
  step(async ({ ada }) => expect(204, await ada.put('/repos/acme/new/collaborators/ben')), 'member.added'),
  step(
    async ({ ada }) => expect(204, await ada.delete('/orgs/acme/members/ben')),
    'member.removed_with_membership',
    'organization.member_removed',
  ),
  step(async ({ ada }) => {
    const { id } = await ada.read('/users/ben')
    await expect(201, await ada.post('/orgs/acme/invitations', { invitee_id: id }))
  }, 'organization.member_invited'),
  step(
    async ({ ben }) => expect(200, await ben.patch('/user/memberships/orgs/acme', { state: 'active' })),
    'organization.member_added',
  ),
  step(async ({ ada }) => expect(200, await ada.put(`${team}/memberships/ben`)), 'team.member_added'),
  step(async ({ ada }) => expect(204, await ada.put(`${team}/repos/acme/new`)), 'team.added_to_repository'),
  step(
    async ({ ada }) => expect(204, await ada.put('/orgs/acme/outside_collaborators/ben')),
    'member.added_by_conversion',
    'team.member_removed',
    'organization.member_removed',
  ),
  step(async ({ ada }) => expect(204, await ada.delete(`${team}/repos/acme/new`)), 'team.removed_from_repository'),
  step(async ({ ada }) => expect(204, await ada.delete(team)), 'team.deleted'),
  step(
    async ({ admin }) => expect(202, await admin.patch('/admin/organizations/acme', { login: 'works' })),
    'organization.renamed',
  ),
]

const steps: Step[] = [
  step(async ({ ada }) => expect(201, await ada.post(`${engine}/labels`, { name: 'bug' })), 'label.created'),
  step(async ({ ada }) => expect(200, await ada.patch(`${engine}/labels/bug`, { color: '112233' })), 'label.edited'),
  step(async ({ ada }) => expect(201, await ada.post(`${engine}/milestones`, { title: 'One' })), 'milestone.created'),
  step(async ({ ada }) => expect(200, await ada.patch(`${engine}/milestones/1`, { title: '1.0' })), 'milestone.edited'),
  step(async ({ ada }) => expect(200, await ada.patch(`${engine}/milestones/1`, { state: 'closed' })), 'milestone.closed'),
  step(async ({ ada }) => expect(200, await ada.patch(`${engine}/milestones/1`, { state: 'open' })), 'milestone.opened'),

  step(({ open }) => open(), 'issue.opened'),
  ...triage('issue', issue),
  step(async ({ ada }) => expect(200, await ada.patch(issue, { state: 'open' })), 'issue.reopened'),
  step(({ ada }) => keep('comment', ada.post(`${issue}/comments`, { body: 'Why?' })), 'issue_comment.created'),
  step(
    async ({ ada }) => expect(200, await ada.patch(`${engine}/issues/comments/${ids.comment}`, { body: 'How?' })),
    'issue_comment.edited',
  ),
  step(async ({ ada }) => expect(204, await ada.delete(`${engine}/issues/comments/${ids.comment}`)), 'issue_comment.deleted'),

  step(({ propose, ben }) => propose({}, ben), 'pull.opened'),
  ...triage('pull', asIssue),
  step(
    async ({ ada, work, follow }) => {
      await work.commit('More', { 'more.txt': 'more\n' })
      await work.push('topic')
      await follow()
      await expect(200, await ada.patch(pull, { state: 'open' }))
      await follow()
    },
    ...(['push.with_commits', 'pull.reopened', 'pull.caught_up'] as const),
  ),
  step(
    async ({ work, follow }) => {
      await work.commit('Last', { 'last.txt': 'last\n' })
      await work.push('topic')
      await follow()
    },
    ...(['push.with_commits', 'pull.pushed'] as const),
  ),
  step(({ work }) => work.push('main:refs/heads/stable'), 'branch.created', 'push.without_commits'),
  step(async ({ ada }) => expect(200, await ada.patch(pull, { base: 'stable' })), 'pull.base_changed'),
  step(async ({ ada }) => expect(200, await ada.patch(pull, { draft: true })), 'pull.converted_to_draft'),
  step(async ({ ada }) => expect(200, await ada.patch(pull, { draft: false })), 'pull.ready_for_review'),
  step(
    async ({ ada }) => expect(201, await ada.post(`${pull}/requested_reviewers`, { reviewers: ['cy'] })),
    'pull.review_requested',
  ),
  step(
    async ({ ada }) => expect(200, await ada.delete(`${pull}/requested_reviewers`, { reviewers: ['cy'] })),
    'pull.review_request_removed',
  ),
  step(
    ({ ada, topic }) => keep('line', ada.post(`${pull}/comments`, { ...line, body: 'Here', commit_id: topic })),
    'review_comment.created',
  ),
  step(
    async ({ ada }) => expect(200, await ada.patch(`${engine}/pulls/comments/${ids.line}`, { body: 'There' })),
    'review_comment.edited',
  ),
  step((world) => setResolved(world, 'yes'), 'review_thread.resolved'),
  step((world) => setResolved(world, 'no'), 'review_thread.unresolved'),
  step(async ({ ada }) => expect(204, await ada.delete(`${engine}/pulls/comments/${ids.line}`)), 'review_comment.deleted'),
  step(
    async ({ ada }) => {
      const answer = await ada.post(`${pull}/reviews`, { event: 'APPROVE', body: 'Good', comments: [{ ...line, body: 'Nice' }] })
      ids.review = (await expect(200, answer)).id
    },
    'review.submitted',
    'review_comment.submitted',
  ),
  step(async ({ ada }) => expect(200, await ada.put(`${pull}/reviews/${ids.review}`, { body: 'Fine' })), 'review.edited'),
  step(
    async ({ ada }) => expect(200, await ada.put(`${pull}/reviews/${ids.review}/dismissals`, { message: 'Old' })),
    'review.dismissed',
  ),
  step(
    async ({ ada, follow }) => {
      await expect(200, await ada.put(`${pull}/merge`))
      await follow()
    },
    'push.with_commits',
    'pull.merged',
    'pull.closed_by_merge',
  ),

  step(
    ({ ada, main }) => keep('note', ada.post(`${engine}/commits/${main}/comments`, { body: 'Why?' })),
    'commit_comment.created',
  ),
  step(
    async ({ ada }) => expect(200, await ada.patch(`${engine}/comments/${ids.note}`, { body: 'How?' })),
    'commit_comment.edited',
  ),
  step(
    async ({ ada, main }) => expect(201, await ada.post(`${engine}/statuses/${main}`, { state: 'pending' })),
    'status.created',
  ),
  step(
    async ({ bot, main }) => expect(201, await bot.post(`${engine}/check-suites`, { head_sha: main })),
    'check_suite.requested',
  ),
  step(({ bot, main }) => keep('run', bot.post(`${engine}/check-runs`, { name: 'ci', head_sha: main })), 'check_run.created'),
  step(
    async ({ bot }) => {
      const { check_suite } = await expect(200, await bot.patch(`${engine}/check-runs/${ids.run}`, { conclusion: 'success' }))
      ids.suite = check_suite.id
    },
    'check_run.completed',
    'check_suite.completed',
  ),
  step(async ({ ada }) => expect(201, await ada.post(`${engine}/check-runs/${ids.run}/rerequest`)), 'check_run.rerequested'),
  step(
    async ({ ada }) => expect(201, await ada.post(`${engine}/check-suites/${ids.suite}/rerequest`)),
    'check_suite.rerequested',
  ),
  step(
    ({ ada }) => keep('deployment', ada.post(`${engine}/deployments`, { ref: 'main', required_contexts: [] })),
    'deployment.created',
  ),
  step(
    async ({ ada }) => expect(201, await ada.post(`${engine}/deployments/${ids.deployment}/statuses`, { state: 'success' })),
    'deployment_status.created',
  ),
  step(({ ada }) => keep('key', ada.post(`${engine}/keys`, { key: publicKey })), 'deploy_key.created'),
  step(async ({ ada }) => expect(204, await ada.delete(`${engine}/keys/${ids.key}`)), 'deploy_key.deleted'),
  step(async ({ ada }) => expect(200, await ada.put(protection, unprotected)), 'protection.created'),
  step(async ({ ada }) => expect(200, await ada.post(`${protection}/enforce_admins`)), 'protection.edited'),
  step(async ({ ada }) => expect(204, await ada.delete(protection)), 'protection.deleted'),
  step(({ work }) => work.push('main:refs/tags/v1'), 'tag.created', 'push.without_commits'),
  step(({ work }) => work.push(':refs/tags/v1'), 'tag.deleted', 'push.without_commits'),
  step(({ work }) => work.push(':stable'), 'branch.deleted', 'push.without_commits'),

  step(({ ada }) => keep('release', ada.post(`${engine}/releases`, { tag_name: 'v2', draft: true })), 'release.created'),
  step(
    async ({ ada }) => expect(200, await ada.patch(`${engine}/releases/${ids.release}`, { name: 'Two', prerelease: true })),
    'release.edited',
  ),
  step(
    async ({ ada }) => expect(200, await ada.patch(`${engine}/releases/${ids.release}`, { draft: false })),
    'tag.created',
    'push.without_commits',
    'release.published',
    'release.prereleased',
  ),
  step(
    async ({ ada }) => expect(200, await ada.patch(`${engine}/releases/${ids.release}`, { prerelease: false })),
    'release.edited',
    'release.released',
  ),
  step(
    async ({ ada }) => expect(200, await ada.patch(`${engine}/releases/${ids.release}`, { draft: true })),
    'release.unpublished',
  ),
  step(async ({ ada }) => expect(204, await ada.delete(`${engine}/releases/${ids.release}`)), 'release.deleted'),

  step(async ({ dan }) => expect(204, await dan.put('/user/starred/ada/engine')), 'repo.starred'),
  step(async ({ dan }) => expect(204, await dan.delete('/user/starred/ada/engine')), 'repo.unstarred'),
  step(async ({ ada }) => expect(200, await ada.patch(engine, { description: 'It runs' })), 'repo.edited'),
  step(async ({ ada }) => expect(200, await ada.patch(engine, { name: 'motor' })), 'repo.renamed'),
  step(async ({ ada }) => expect(200, await ada.patch('/repos/ada/motor', { name: 'engine' })), 'repo.renamed'),
  step(async ({ ada }) => expect(200, await ada.patch(engine, { archived: true })), 'repo.archived'),
  step(async ({ ada }) => expect(200, await ada.patch(engine, { archived: false })), 'repo.unarchived'),
  step(async ({ ada }) => expect(200, await ada.patch(engine, { private: true })), 'repo.privatized'),
  step(async ({ ada }) => expect(200, await ada.patch(engine, { private: false })), 'repo.publicized'),
  step(({ ada }) => keep('invitation', ada.put(`${engine}/collaborators/dan`)), 'member.invited'),
  step(
    async ({ dan }) => expect(204, await dan.patch(`/user/repository_invitations/${ids.invitation}`)),
    'member.added',
    'member.accepted',
  ),
  step(async ({ ada }) => expect(204, await ada.put(`${engine}/collaborators/dan`, { permission: 'admin' })), 'member.edited'),
  step(async ({ ada }) => expect(204, await ada.delete(`${engine}/collaborators/dan`)), 'member.removed'),
  step(
    async ({ ada }) => expect(202, await ada.post(`${engine}/forks`, { organization: 'acme' })),
    'repo.forked',
    'repo.created_as_fork',
  ),
  step(async ({ ada }) => expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'dan' })), 'transfer.offered'),
  step(
    async ({ ada }) => expect(202, await ada.post(`${engine}/transfer`, { new_owner: 'acme', new_name: 'works' })),
    'repo.transferred',
  ),
  step(async ({ ada }) => expect(204, await ada.delete('/repos/acme/works/labels/bug')), 'label.deleted'),
  step(async ({ ada }) => expect(204, await ada.delete('/repos/acme/works/milestones/1')), 'milestone.deleted'),
  step(async ({ ada }) => expect(204, await ada.delete('/repos/acme/works')), 'repo.deleted'),
  step(async ({ ada }) => expect(201, await ada.post('/orgs/acme/repos', { name: 'new' })), 'repo.created'),
  ...organizationSteps,
]

const line = { path: 'notes.txt', line: 1, side: 'RIGHT' }

/** Acts of teams, imports and paused hooks take more than a call. Other tests assert them, with these texts. */
const elsewhere: Partial<Record<ActName, string>> = {
  'pull.team_review_requested': 'ada review_requested 1 core',
  'pull.team_review_request_removed': 'ada review_request_removed 1 core',
  'import.completed': "['repository_import', 'success'",
  'import.repeated': "assert.equal(repeated?.payload.status, 'success')",
  'import.failed': "['failure ada']",
  'import.cancelled': "['cancelled ada']",
  'import.status_changed': "assert.equal(event, 'RepositoryImportEvent')",
  'hook.paused': "'Webhook to belfry:listen is paused'",
}

test('every act has a test', () => {
  const driven = new Set([...steps.flatMap((each) => each.acts), ...Object.keys(elsewhere)])
  assert.deepEqual(
    Object.keys({ ...acts, ...organizationActs }).filter((name) => !driven.has(name)),
    [],
  )
  const root = join(import.meta.dirname, '..', 'src')
  const tests = globSync('**/*.test.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  assert.deepEqual(
    Object.values(elsewhere).filter((text) => !tests.some((source) => source.includes(text))),
    [],
  )
})

test('the receivers get what the table says of each act', async () => {
  await using world = await openWithChecker()
  await world.organization('acme', world.ada)
  await hookOn(world.ada, 'repos/ada/engine', '*')
  await hookOn(world.ada, 'orgs/acme', '*')
  for (const { acts: all, run } of steps) {
    const names = all.filter((name) => !isInOrganization(name)) as ActName[]
    world.clock.advance(1000)
    const { webhooks, ...stored } = await observe(world, () => run(world))
    const expected = {
      timeline: sorted(names.map((name) => meaningOf(name).timeline)),
      history: sorted(names.map((name) => meaningOf(name).history)),
      notices: sorted(names.map((name) => (isEditOfTitle(name, names) ? undefined : meaningOf(name).notice))),
    }
    assert.deepEqual(stored, expected, all.join(', '))
    const named = [...names.flatMap(webhooksOf), ...all.filter(isInOrganization).flatMap(organizationWebhooksOf)]
    const events = named.map(({ event, action }) => [event, action].filter(Boolean).join(' '))
    assert.deepEqual(
      sorted(webhooks.map(({ event, payload }) => [event, payload.action].filter(Boolean).join(' '))),
      sorted(events),
    )
    for (const { event, payload } of webhooks) checkPayload(event, payload)
    if (stored.timeline.length) await checkSentences(world, stored.timeline.length)
  }
})

const isInOrganization = (name: ActName | OrganizationActName): name is OrganizationActName => name in organizationActs

const sorted = (names: (string | undefined)[]) => [...new Set(names.filter((name) => name !== undefined))].sort()

/** Only an edit of the text notifies. */
const isEditOfTitle = (name: ActName, names: ActName[]) =>
  name.endsWith('.edited') && names.some((other) => other.endsWith('.renamed'))

async function observe({ belfry: { db }, ...forge }: Forge, run: () => Promise<unknown>) {
  const since = await db.first<{ events: number; history: number; notices: number }>(sql`
    select (select coalesce(max(id), 0) from events) as events, (select coalesce(max(id), 0) from issue_events) as history,
      (select coalesce(max(id), 0) from notification_events) as notices`)
  const webhooks = await heardOf({ belfry: { db }, ...forge } as Forge, run)
  const names = async (rows: Promise<{ name: string }[]>) => sorted((await rows).map(({ name }) => name))
  return {
    webhooks,
    timeline: await names(
      db.rows(sql`
        select concat_ws(' ', type, payload->>'action', payload->>'ref_type') as name from events where id > ${since?.events ?? 0}`),
    ),
    history: await names(db.rows(sql`select event as name from issue_events where id > ${since?.history ?? 0}`)),
    notices: await names(db.rows(sql`select act as name from notification_events where id > ${since?.notices ?? 0}`)),
  }
}

/** The newest entries of the feed have a title: the actor and a sentence. */
async function checkSentences({ web }: Forge, count: number) {
  const { titles } = await subscribe(`${web}/timeline.atom`)
  for (const title of titles.slice(0, count)) assert.match(title ?? '', /^\w+ \w+ .*\w+\/\w+/)
}

test('every notice belongs to an act', () => {
  const used = new Set(Object.values(acts).map((row) => ('notice' in row ? row.notice : undefined)))
  assert.deepEqual(
    Object.keys(noticeRules).filter((name) => !used.has(name as never)),
    [],
  )
})

test('publish is the only way to the four receivers', () => {
  const root = join(import.meta.dirname, '..', 'src')
  const receivers =
    /import \{[^}]*\b(record|recordHistory|notify|notifyOf|enqueueDeliveries)\b[^}]*\} from '[^']*(log|issue-history|notices|outbox)\.ts'/
  const callers = globSync('**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts') && receivers.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(callers, ['activity/publish.ts'])
})
