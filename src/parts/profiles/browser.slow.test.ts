import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { expect, openForge } from '#test/forge.ts'

test('a newcomer creates an organization, a team and a repository, and follows someone', async () => {
  await using forge = await openForge({ worker: true, settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  await using browser = await openBrowser()
  const { page, inspect, picture, problems } = browser
  const [ada] = [await forge.person('ada'), await forge.person('ben')]
  const word = 'Unbreakable'.repeat(30)
  await expect(200, await ada.patch('/user', { name: `${word} <b>`, bio: `${word} مرحبا`, location: word, company: word }))
  await ada.owns('a-repository-with-quite-a-long-name-that-goes-on-and-on-and-on-for-a-while', {
    description: word.slice(0, 300),
  })

  await signIn(page, forge, 'ben', '/organizations/new')
  await page.getByLabel('Name', { exact: true }).fill('acme')
  await page.getByRole('button', { name: 'Create organization' }).click()
  await page.getByText('acme is created').waitFor()
  await page.getByText('Add a member').click()
  await page.getByLabel('Login').fill('ada')
  await page.getByRole('button', { name: 'Add without asking' }).click()
  await page.getByText('ada is a member of acme now').waitFor()
  await inspect('organization-people')

  await page.getByRole('link', { name: 'Teams' }).click()
  await page.getByRole('link', { name: 'New team' }).click()
  await page.getByLabel('Team name').fill('Core')
  await page.getByRole('button', { name: 'Create team' }).click()
  await page.getByText('The team is created').waitFor()
  await picture('team-members')

  await page.goto(`${forge.web}/new?owner=acme`)
  await page.getByLabel('Repository name').fill('bad name!')
  await page.getByText('It will be called bad-name-.').waitFor()
  await page.getByLabel('Repository name').fill('anvil')
  await page.getByText('acme/anvil is available.').waitFor()
  await page.getByLabel('Add a README').check()
  await page.getByLabel('License').selectOption('mit')
  await inspect('repository-new')
  await page.getByRole('button', { name: 'Create repository' }).click()
  await page.waitForURL(`${forge.web}/acme/anvil`)
  for (const path of [
    'acme',
    'orgs/acme/repositories',
    'orgs/acme/teams',
    'organizations/acme/settings/profile',
    'orgs/acme/teams/core/edit',
  ]) {
    await page.goto(`${forge.web}/${path}`)
    await picture(path.replaceAll('/', '-'))
  }

  await page.goto(`${forge.web}/ada`)
  await inspect('profile')
  await page.getByRole('button', { name: 'Follow ada' }).click()
  await page.getByRole('button', { name: 'Unfollow ada' }).waitFor()
  for (const [tab, text] of [
    ['Repositories', 'Find a repository'],
    ['Followers', 'ben'],
  ] as const) {
    await page.getByRole('navigation', { name: 'Profile' }).getByRole('link', { name: tab }).click()
    await page.waitForURL(`${forge.web}/ada?tab=${tab.toLowerCase()}`)
    await page.locator('.profile-content').getByText(text).or(page.getByPlaceholder(text)).first().waitFor()
    await picture(`profile-${tab.toLowerCase()}`)
  }
  await page.goto(`${forge.web}/timeline`)
  await picture('public-timeline')
  assert.deepEqual(problems, [])
})
