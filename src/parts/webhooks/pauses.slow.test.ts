import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { expect, openForge } from '#test/forge.ts'
import { told } from '#test/inbox.ts'
import { openReceiver } from '#test/webhooks.ts'

test('the pages explain why a hook is paused and how to resume it', async () => {
  await using forge = await openForge({ worker: true })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine')
  await using browser = await openBrowser()
  await using receiver = await openReceiver()
  const { host } = new URL(receiver.url)
  const { page, inspect, picture } = browser
  const { id } = await expect(201, await ada.put('/repos/ada/engine/collaborators/ben', { permission: 'admin' }))
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
  const hook = await expect(201, await ben.post('/repos/ada/engine/hooks', { config: { url: receiver.url } }))
  await expect(204, await ada.delete('/repos/ada/engine/collaborators/ben'))
  await told(forge)
  await signIn(page, forge, 'ada', '/notifications')
  await page.getByRole('link', { name: `Webhook to ${host} is paused` }).click()
  await page.waitForURL(`${forge.web}/ada/engine/settings/hooks/${hook.id}`)
  await page.getByText('This webhook is paused, because ben, who').waitFor()
  await inspect('hook-paused')
  await page.goto(`${forge.web}/ada/engine/settings/hooks`)
  await page.getByText('paused', { exact: true }).waitFor()
  await picture('hook-paused-list')
  await page.goto(`${forge.web}/ada/engine/settings/hooks/${hook.id}/edit`)
  await picture('hook-paused-edit')
  await page.getByRole('checkbox', { name: 'Active' }).check()
  await page.getByRole('button', { name: 'Save webhook' }).click()
  await page.getByText('Saved.').waitFor()
  assert.equal(await page.getByText('This webhook is paused').count(), 0)
  assert.equal((await ada.read(`/repos/ada/engine/hooks/${hook.id}`)).active, true)
})
