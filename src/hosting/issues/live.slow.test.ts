import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { engine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { openWithTopic } from '#test/pulls.ts'

test('a page shows what others do, and keeps what its reader has begun', async () => {
  await using forge = await openWithTopic()
  await using browser = await openBrowser()
  const { page, problems } = browser
  await forge.propose()
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'bug', color: 'd73a4a' }))
  await signIn(page, forge, 'ada', '/ada/engine/pull/1')
  const box = page.getByLabel('Comment on this pull request')
  await box.fill('Half a thought')
  await box.press('ArrowLeft')
  await page.getByLabel('Change: Labels').click()
  await page.getByRole('checkbox', { name: 'bug' }).check()
  await expect(201, await forge.ben.post(`${engine}/issues/1/comments`, { body: 'I came by' }))
  await page.getByText('I came by').waitFor()
  assert.equal(await box.inputValue(), 'Half a thought')
  assert.equal(await page.getByRole('checkbox', { name: 'bug' }).isChecked(), true, 'an open menu stays as it is')

  await page.getByLabel('Change: Labels').click()
  await box.focus()
  await expect(201, await forge.ben.post(`${engine}/statuses/${forge.topic}`, { state: 'failure', context: 'lint' }))
  await page.locator('.talk').getByText('lint').waitFor()
  await page.keyboard.type('X')
  assert.equal(await box.inputValue(), 'Half a thoughXt', 'the caret stays where it was')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.locator('.post', { hasText: 'Half a thoughXt' }).waitFor()
  assert.equal(await box.inputValue(), '')

  await page.goto(`${forge.web}/ada/engine/pull/1/files`)
  await page.getByLabel('Viewed').check()
  await expect(200, await forge.ben.put(`${engine}/pulls/1/merge`, {}))
  await page.locator('.state.merged').waitFor()
  assert.equal(await page.getByLabel('Viewed').isChecked(), true)
  assert.deepEqual(problems, [])
})
