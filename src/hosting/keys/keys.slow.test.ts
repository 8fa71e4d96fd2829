import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { injecting, withPeople } from '#test/forge.ts'

const inject = injecting(withPeople('ada', 'ben'))

const field = (bytes: Buffer | string) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(Buffer.byteLength(bytes))
  return Buffer.concat([length, Buffer.from(bytes)])
}
const line = (type: string, ...fields: (Buffer | string)[]) =>
  `${type} ${Buffer.concat([type, ...fields].map(field)).toString('base64')}`
const raw = (text: string | undefined) => Buffer.from(text ?? '', 'base64url')
const jwk = (key: KeyObject) => key.export({ format: 'jwk' })

const ed25519 = () => line('ssh-ed25519', raw(jwk(generateKeyPairSync('ed25519').publicKey).x))
const key = ed25519()
test('the page of keys works in a browser, also a narrow one', inject(async ({ forge, ada, web }) => {
  await using browser = await openBrowser()
  const { page } = browser
  await signIn(page, forge, 'ada', '/settings/keys')
  await page.getByLabel('Title').fill('desk')
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.getByRole('button', { name: 'Add key' }).click()
  await page.getByText('SHA256:').waitFor()
  await browser.picture('settings-keys')
  assert.equal((await ada.read('/user/keys')).length, 1)
  await page.getByRole('link', { name: 'Remove desk' }).click()
  await page.getByRole('heading', { name: 'Remove this key?' }).waitFor()
  await browser.inspect('settings-keys-remove')
  await page.getByRole('button', { name: 'Remove this key' }).click()
  await page.getByText('There are no keys yet').waitFor()

  await ada.owns('engine')
  await page.goto(`${web}/ada/engine/settings/keys`)
  await page.getByLabel('Key', { exact: true }).fill(ed25519())
  await page.getByLabel('Title').fill('server')
  await page.getByRole('button', { name: 'Add key' }).click()
  await page.getByText('The key is added.').waitFor()
  await page.getByLabel('Remove server').click()
  await browser.inspect('deploy-keys')
  await page.getByRole('button', { name: 'Remove this key' }).click()
  await page.getByText('The key is removed.').waitFor()
  assert.deepEqual(browser.problems, [])
}))
