import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { Contract, type Fault } from '#test/activity/schemas.ts'
import { engine } from '#test/conversations.ts'
import { type Client, expect } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

/** Lists of one issue are documented as unions that nearly everything matches, so each event is also checked against its own kind. */
const kinds: Record<string, string> = {
  labeled: 'LabeledIssueEvent',
  unlabeled: 'UnlabeledIssueEvent',
  // The documentation of assignment events requires an application, which Belfry does not have.
  assigned: 'UnassignedIssueEvent',
  unassigned: 'UnassignedIssueEvent',
  milestoned: 'MilestonedIssueEvent',
  demilestoned: 'DemilestonedIssueEvent',
  renamed: 'RenamedIssueEvent',
  review_requested: 'ReviewRequestedIssueEvent',
  review_request_removed: 'ReviewRequestRemovedIssueEvent',
  locked: 'LockedIssueEvent',
  unlocked: 'LockedIssueEvent',
  closed: 'StateChangeIssueEvent',
  reopened: 'StateChangeIssueEvent',
  merged: 'StateChangeIssueEvent',
  ready_for_review: 'StateChangeIssueEvent',
  convert_to_draft: 'StateChangeIssueEvent',
  commented: 'TimelineCommentEvent',
  reviewed: 'TimelineReviewedEvent',
}

test('every kind of event matches the public documentation, on both variants, also for deleted accounts', async () => {
  await using forge = await openWithTopic()
  const { ada, ben, cy } = forge
  await forge.propose()
  const [issue, pull] = [`${engine}/issues/1`, `${engine}/pulls/1`]
  await expect(201, await ada.post(`${engine}/milestones`, { title: 'One' }))
  const sorted = { milestone: 1, labels: ['a'], assignees: ['cy'], title: 'Other', state: 'closed' }
  await expect(200, await ben.patch(issue, sorted))
  await expect(200, await ben.patch(issue, { milestone: null, labels: [], assignees: [], state: 'open' }))
  await expect(204, await ben.put(`${issue}/lock`, { lock_reason: 'resolved' }))
  await expect(204, await ben.delete(`${issue}/lock`))
  for (const draft of [true, false]) await expect(200, await ben.patch(pull, { draft }))
  await expect(201, await ben.post(`${pull}/requested_reviewers`, { reviewers: ['cy'] }))
  await expect(200, await ben.delete(`${pull}/requested_reviewers`, { reviewers: ['cy'] }))
  await expect(201, await ben.post(`${issue}/comments`, { body: 'Hm' }))
  await expect(200, await cy.post(`${pull}/reviews`, { event: 'APPROVE' }))
  await expect(200, await ben.put(`${pull}/merge`))
  for (const gone of [false, true]) {
    if (gone) await forge.belfry.db.query(sql`delete from accounts where login in ('ben', 'cy')`)
    for (const name of ['self-hosted', 'versioned'] as const) {
      const contract = Contract.of(name)
      const who: Client = name === 'versioned' ? ada.versioned : ada
      const faults: Fault[] = []
      const visit = async (operation: string, path: string) => {
        const found = await who.read(path)
        faults.push(...contract.check(operation, 200, 'application/json', found))
        return found
      }
      const [newest] = await visit('issues/list-events-for-repo', `${engine}/issues/events`)
      await visit('issues/get-event', `${engine}/issues/events/${newest.id}`)
      const own = await visit('issues/list-events', `${issue}/events`)
      const timeline = await visit('issues/list-events-for-timeline', `${issue}/timeline`)
      for (const event of [...own, ...timeline])
        faults.push(...contract.checkPayload(event.event, { type: kinds[event.event] ?? 'none', payload: event }))
      const seen = new Set(timeline.map(({ event }: { event: string }) => event))
      assert.deepEqual([...seen].toSorted(), Object.keys(kinds).toSorted())
      assert.equal(own.length, timeline.length - 2)
      assert.deepEqual([...new Set(faults.map(({ operation, path, message }) => `${operation} ${path} ${message}`))], [])
    }
  }
})
