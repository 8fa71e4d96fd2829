import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signIn } from '../browser.ts'
import { expect, linesOf } from '../forge.ts'
import { until } from '../machine.ts'
import { openWithTopic } from '../pulls.ts'
import { openReader } from './reader.ts'

const engine = '/repos/ada/engine'

test('a maintainer triages, reviews, merges, releases, protects a branch and empties the inbox', async () => {
  await using forge = await openWithTopic({ worker: true })
  for (const name of ['bug', 'easy']) await expect(201, await forge.ada.post(`${engine}/labels`, { name, color: 'd73a4a' }))
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: 'Steam' }))
  await forge.propose({ title: 'Take notes' }, forge.ben)
  await forge.open({ title: 'Smoke', body: 'It smokes.' }, forge.dan)
  await using reader = await openReader(forge)
  const { page, problems, open, isAt, reads, follow, press, reload } = reader

  // Triage: a label, a milestone and an assignee.
  await signIn(page, forge, 'ada', '/ada/engine/issues')
  await follow('Smoke')
  await isAt('/ada/engine/issues/2')
  await page.keyboard.press('l')
  await page.getByRole('checkbox', { name: 'bug' }).check()
  await press('Apply')
  await page.locator('.timeline-item', { hasText: 'added' }).getByText('bug').waitFor()
  await page.getByLabel('Change: Milestone').click()
  await page.getByRole('radio', { name: 'Steam' }).check()
  await page.getByRole('button', { name: 'Apply' }).and(page.locator(':visible')).click()
  await page.locator('.timeline-item', { hasText: 'Steam' }).waitFor()
  await page.getByLabel('Change: Assignees').click()
  await page.getByRole('checkbox', { name: 'ben' }).check()
  await page.getByRole('button', { name: 'Apply' }).and(page.locator(':visible')).click()
  await page.locator('.timeline-item', { hasText: 'assigned' }).waitFor()
  await reload()
  const { labels, milestone, assignees } = await forge.ada.read(`${engine}/issues/2`)
  assert.deepEqual([linesOf(labels, 'name'), milestone.title, linesOf(assignees, 'login')], [['bug'], 'Steam', ['ben']])

  // A review of a line, with a suggestion that the author takes.
  await open('/ada/engine/pull/1/files')
  await follow('Comment on line 1')
  await page.getByRole('textbox', { name: 'Comment on line 1' }).fill('Like this?')
  await press('Suggest a change')
  await press('Start a review')
  await reads('1 comment of yours waits')
  await page.getByLabel('Approve').check()
  await press('Submit review')
  await isAt('/ada/engine/pull/1')
  await reads('Your review is submitted')
  await reload()
  assert.equal((await forge.ada.read(`${engine}/pulls/1/reviews`)).length, 1)

  // Squash and merge.
  await page.getByLabel('Choose how to merge').click()
  await follow(/^Squash and merge/)
  await press('Confirm: squash and merge')
  await reads('ada merged it into')
  await reload()
  await reads('ada merged it into')

  // A draft of a release.
  await open('/ada/engine/releases/new')
  await page.getByLabel('Tag', { exact: true }).fill('v1.0')
  await page.getByLabel('Title').fill('Steam')
  await press('Generate notes')
  await reads('Take notes')
  await press('Save draft')
  await page.getByText('Draft').first().waitFor()
  await reload()
  assert.deepEqual(linesOf(await forge.ada.read(`${engine}/releases`), 'name', 'draft'), ['Steam true'])

  // Nobody pushes to main without a review from now on.
  await open('/ada/engine/settings/branches')
  await follow(/^(Protect|Add)/)
  await page.getByRole('textbox', { name: 'Branch' }).fill('main')
  await page.getByLabel('Require a pull request before merging').check()
  await press('Save')
  await isAt('/ada/engine/settings/branches')
  await reload()
  const protection = await forge.ada.read(`${engine}/branches/main/protection`)
  assert.equal(protection.required_pull_request_reviews.required_approving_review_count, 1)

  // The inbox: read beside the list, done, undone, snoozed.
  await expect(201, await forge.dan.post(`${engine}/issues/2/comments`, { body: 'It still smokes, @ada.' }))
  await until('the mention is in the inbox', async () => (await forge.ada.read('/notifications')).length > 0)
  await open('/notifications')
  await follow('Smoke')
  const pane = page.getByRole('region', { name: 'Reading pane' })
  await pane.getByText('It still smokes, @ada.').waitFor()
  await page.keyboard.press('e')
  await reads('1 done.')
  await page.keyboard.press('z')
  await page.locator('.thread .title', { hasText: 'Smoke' }).waitFor()
  await page.keyboard.press('s')
  await page.getByRole('button', { name: 'Until tomorrow' }).first().click()
  await reads('1 snoozed.')
  await reload()
  await open('/notifications?view=snoozed')
  await reads('returns')
  await reader.back('/notifications')
  assert.deepEqual(problems, [])
})
