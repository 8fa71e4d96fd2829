import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { privateFeeds } from '#test/feeds.ts'
import { expect, openForge } from '#test/forge.ts'

test('a visitor reads an activity page and creates a feed key', async () => {
  await using forge = await openForge({ settings: { BELFRY_PUBLIC_EVENTS_DELAY: '0' } })
  await using browser = await openBrowser()
  const { page, inspect, picture } = browser
  const ada = await forge.person('ada')
  const about = { name: 'Ada Lovelace', bio: 'Numbers & notes', location: 'London', blog: 'https://ada.example' }
  await expect(200, await ada.patch('/user', about))
  const name = 'a-repository-with-quite-a-long-name-that-goes-on-and-on-and-on-for-a-while'
  await ada.owns(name, { description: '<script>document.title = "taken over"</script>' })
  for (const [file, message] of [
    ['one', 'Begin <i>here</i> \u0001'],
    ['two', 'Go on 🔔'],
  ] as const) {
    await expect(201, await ada.put(`/repos/ada/${name}/contents/${file}`, { message, content: btoa(file) }))
  }
  await page.goto(`${forge.web}/ada`)
  await picture('activity')
  assert.equal(await page.title(), 'ada · Belfry')
  await page.getByText('Begin <i>here</i>').first().waitFor()
  const feed = await page.evaluate(`document.head.querySelector('link[rel=alternate][type="application/atom+xml"]').href`)
  assert.equal(feed, `${forge.web}/ada.atom`)
  await page.goto(`${forge.web}/timeline`)
  await picture('timeline')

  await signIn(page, forge, 'ada', '/settings/feeds')
  await page.getByLabel('What it is for').fill('Phone')
  await page.getByRole('button', { name: 'Make a key' }).click()
  await page.getByText('Your new feeds').waitFor()
  await inspect('feed-keys')
  await page.getByRole('link', { name: 'Revoke Phone' }).click()
  await page.getByRole('button', { name: 'Revoke this key' }).click()
  await page.getByText('The key is revoked').waitFor()

  // The browser's parser rejects XML that is not well-formed.
  const { received, actor } = await privateFeeds(forge, ada)
  for (const url of [String(feed), `${forge.web}/timeline.atom`, received, actor]) {
    const text = await (await fetch(url)).text()
    const read = `(text) => {
      const root = new DOMParser().parseFromString(text, 'application/xml').documentElement
      return [root.namespaceURI, root.localName, root.getElementsByTagName('entry').length]
    }`
    const found = await page.evaluate(`(${read})(${JSON.stringify(text)})`)
    assert.deepEqual(found, ['http://www.w3.org/2005/Atom', 'feed', 4], url)
  }
})
