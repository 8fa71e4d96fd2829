import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signIn } from '../browser.ts'
import { expect, openForge } from '../forge.ts'
import { openReader } from './reader.ts'

test('an administrator suspends someone, looks at the server, and finds it all in the audit log', async () => {
  await using forge = await openForge()
  for (const login of ['root', 'ben', 'mallory']) await forge.person(login)
  await expect(204, await forge.admin.put('/users/root/site_admin'))
  await using reader = await openReader(forge)
  const { page, problems, isAt, reads, follow, press, reload } = reader
  const section = (name: string) => page.getByRole('navigation', { name: 'Administration' }).getByRole('link', { name }).click()

  // From the menu of the account to the person.
  await signIn(page, forge, 'root', '/')
  await page.getByLabel('Signed in as root').click()
  await page.getByRole('link', { name: 'Administration' }).click()
  await isAt('/site-admin')
  await reads('Jobs failed')
  await section('People')
  await isAt('/site-admin/users')
  await page.getByRole('searchbox', { name: 'Find by login' }).fill('mall')
  await press('Find')
  await isAt(/q=mall/)
  await follow('Manage mallory')
  await isAt('/site-admin/users/mallory')

  // A suspension ends a session at once, and can be ended.
  await using other = await openReader(forge)
  await signIn(other.page, forge, 'mallory', '/settings/profile')
  await press('Suspend')
  await page.getByRole('button', { name: 'End the suspension' }).waitFor()
  await reload()
  await page.getByRole('button', { name: 'End the suspension' }).waitFor()
  await other.page.reload()
  await other.isAt('/login')
  await press('End the suspension')
  await page.getByRole('button', { name: 'Suspend', exact: true }).waitFor()
  await reader.back(/^\/site-admin\/users/)

  // A new account, refused and mended.
  await reader.open('/site-admin/users')
  await follow('New person')
  await isAt('/site-admin/users/new')
  await page.getByLabel('Login').fill('ben')
  await page.getByLabel('Password').fill('long enough to be good')
  await press(/^(Make|Create|Add)/)
  await reads(/taken|already/)
  await page.getByLabel('Login').fill('cleo')
  await page.getByLabel('Password').fill('long enough to be good')
  await press(/^(Make|Create|Add)/)
  await reads('cleo has an account now')
  await reload()

  // The state of the server: jobs, errors, settings.
  await section('Jobs')
  await reads('No job has failed')
  await section('Errors')
  await isAt('/site-admin/requests')
  await section('Settings')
  await reads('BELFRY_SIGNUP')
  assert.ok(!(await page.content()).includes(forge.belfry.settings.BELFRY_ADMIN_TOKEN ?? ''))

  // Who did all that.
  await section('Audit log')
  await isAt('/site-admin/audit')
  const rows = await page.getByRole('row').allTextContents()
  for (const act of ['user.suspend', 'user.unsuspend'])
    assert.ok(
      rows.some((row) => row.includes(act) && row.includes('mallory') && row.includes('root')),
      act,
    )
  assert.equal(rows.filter((row) => row.includes('user.create') && row.includes('cleo')).length, 1)
  assert.deepEqual(
    problems.filter((text) => !/ 422 /.test(text)),
    [],
  )
})
