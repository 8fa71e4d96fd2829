import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { engine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { openReading } from '#test/reading.ts'

test('every thread links to a page, and showing it marks the thread as read', async () => {
  await using forge = await openReading()
  await using browser = await openBrowser()
  const { page, picture } = browser
  const content = btoa('one\ntwo\n')
  const { commit } = await expect(
    201,
    await forge.ada.put(`${engine}/contents/deep/notes.txt`, { message: 'Add notes\n\nAll of them.', content }),
  )
  const remark = { body: 'Why, @ben? <script>', path: 'deep/notes.txt', position: 1 }
  await expect(201, await forge.ada.post(`${engine}/commits/${commit.sha}/comments`, remark))
  await forge.told(forge.ben, 5)
  await expect(201, await forge.ada.post(`${engine}/releases`, { tag_name: 'v/2#x', name: '', body: 'See **#1**' }))
  await forge.told(forge.ben, 6)
  await forge.ada.owns('vault', { private: true, description: 'Where things are kept' })
  await expect(201, await forge.ada.put('/repos/ada/vault/collaborators/ben', { permission: 'push' }))
  await forge.told(forge.ben, 7)

  await signIn(page, forge, 'ben', '/notifications')
  await page.locator('.thread').first().waitFor()
  const unread = async () => (await forge.ben.read('/notifications')).length
  const links = page.locator('.thread .title')
  assert.equal(await links.count(), 7)
  for (const [index, address] of (
    (await page.evaluate(`[...document.querySelectorAll('.thread .title')].map((link) => link.href)`)) as string[]
  ).entries()) {
    const answer = await page.goto(address)
    assert.equal(answer?.status(), 200, address)
    assert.equal(await unread(), 6 - index, address)
    const kind = /\/(commit|releases|invitations)/.exec(address)?.[1]
    if (kind) await picture(`inbox-to-${kind}`)
  }

  await page.goto(`${forge.web}/ada/vault/invitations`)
  await page.getByRole('button', { name: 'Accept' }).click()
  await page.getByText('You are a collaborator of ada/vault now.').waitFor()
  await page.goto(`${forge.web}/ada/vault/invitations`)
  assert.equal(page.url(), `${forge.web}/ada/vault`)
})
