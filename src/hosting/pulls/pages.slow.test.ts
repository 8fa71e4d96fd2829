import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { engine } from '#test/conversations.ts'
import { expect, injecting } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

const inject = injecting(openWithTopic)
const path = '/ada/engine/pull/1'

test('a browser reviews and merges a pull request', inject(async (forge) => {
  await using browser = await openBrowser()
  const { page, inspect, picture, problems } = browser
  await forge.propose({ title: 'Notes & <i>more</i>', body: 'As **agreed** in ada/engine#1' })
  const comments = [{ path: 'notes.txt', line: 1, body: 'Which `note`? <script>' }]
  await expect(
    200,
    await forge.ben.post(`${engine}/pulls/1/reviews`, { event: 'REQUEST_CHANGES', body: 'Not yet, @ada', comments }),
  )
  await expect(200, await forge.cy.post(`${engine}/pulls/1/reviews`, { event: 'APPROVE', body: '' }))
  await expect(200, await forge.dan.post(`${engine}/pulls/1/reviews`, { body: 'Pending and hidden', comments: [] }))
  await expect(201, await forge.ada.post(`${engine}/pulls/1/requested_reviewers`, { reviewers: ['cy'] }))
  await signIn(page, forge, 'ben', path)
  await page.getByText('Which note?').waitFor()
  assert.equal(await page.getByText('Pending and hidden').count(), 0)
  await picture('pull')
  await page.getByRole('link', { name: 'Files changed' }).click()
  await page.getByRole('cell', { name: 'A note.' }).waitFor()
  await page.getByLabel('Viewed').waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('v')
  assert.equal(await page.getByLabel('Viewed').isChecked(), true)
  await page.keyboard.press('v')
  await page.getByRole('link', { name: 'Comment on line 1' }).click()
  await page.getByRole('textbox', { name: 'Comment on line 1' }).fill('Say **more**')
  await inspect('pull-files')
  await page.getByRole('button', { name: 'Suggest a change' }).click()
  await page.getByRole('button', { name: 'Start a review' }).click()
  await page.getByText('Suggested change').waitFor()
  await page.getByText('1 comment of yours waits').waitFor()
  await page.getByLabel('Approve').check()
  await page.getByRole('button', { name: 'Submit review' }).click()
  await page.waitForURL((url) => url.pathname === path)
  await page.getByText('Your review is submitted').waitFor()
  await page.getByRole('link', { name: 'Commits' }).click()
  await page.getByRole('button', { name: 'Copy the id of' }).waitFor()
  await page.keyboard.press('j')
  assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Add notes')
  await page.getByRole('link', { name: 'Conversation' }).click()
  await page.getByLabel('Choose how to merge').click()
  await page.getByRole('link', { name: 'Squash and merge' }).click()
  await page.getByRole('button', { name: 'Confirm: squash and merge' }).click()
  await page.getByText('ben merged it into').waitFor()
  await inspect('pull-merged')
  assert.deepEqual(problems, [])
}))
