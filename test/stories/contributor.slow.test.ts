import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signIn } from '../browser.ts'
import { expect, linesOf, openForge } from '../forge.ts'
import { until } from '../machine.ts'
import { openReader } from './reader.ts'

test('a contributor forks, proposes a change, answers the review and sees it merged, without scripts', async () => {
  await using forge = await openForge({ worker: true })
  const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
  await ada.owns('engine', { auto_init: true, description: 'Computes' })
  await using reader = await openReader(forge, { scripts: false })
  const { page, problems, isAt, reads, follow, press } = reader

  // A fork of their own.
  await signIn(page, forge, 'ben', '/ada/engine')
  await page.getByRole('link', { name: 'Fork', exact: true }).click()
  await press('Create fork')
  await isAt('/ben/engine')
  await until('the fork has its files', async () => (await ben.get('/repos/ben/engine/contents/README.md')).status === 200)
  await reader.reload()
  await reads('Forked from')

  // A change, in the browser.
  await follow('README.md')
  await follow(/^Edit/)
  await page.getByLabel('Contents').fill('# engine\n\nIt computes, and it prnts.\n')
  await page.getByLabel('Commit message').fill('Say what it does')
  await press('Commit changes')
  await isAt('/ben/engine/blob/main/README.md')
  await reads('It computes, and it prnts.')
  await reader.reload()

  // A pull request from the fork.
  await page.goto(`${forge.web}/ben/engine`)
  await follow('Contribute')
  await isAt(/compare/)
  await reads('Say what it does')
  await follow('Create pull request')
  await page.getByLabel('Title').fill('Say what the engine does')
  await press('Create pull request')
  await isAt('/ada/engine/pull/1')
  await reads('wants to merge 1 commit into')
  await reader.reload()

  // The maintainer asks for a change, and the contributor finds it in the inbox.
  const comments = [{ path: 'README.md', line: 3, body: 'A letter is missing.' }]
  await expect(200, await ada.post('/repos/ada/engine/pulls/1/reviews', { event: 'REQUEST_CHANGES', body: 'Almost.', comments }))
  await until('the review is in the inbox', async () => (await ben.read('/notifications')).length > 0)
  await page.goto(`${forge.web}/notifications`)
  await follow('Say what the engine does')
  await reads('A letter is missing.')
  await page.goto(`${forge.web}/ben/engine/edit/main/README.md`)
  await page.getByLabel('Contents').fill('# engine\n\nIt computes, and it prints.\n')
  await press('Commit changes')
  await isAt('/ben/engine/blob/main/README.md')
  await until('the pull request has both commits', async () => (await ben.read('/repos/ada/engine/pulls/1')).commits === 2)
  await reader.back('/ben/engine/edit/main/README.md')
  await page.goto(`${forge.web}/ada/engine/pull/1`)
  await follow(/^Commits 2/)
  await reads('Update README.md')
  await reader.back('/ada/engine/pull/1')
  await page.getByLabel('Comment on this pull request').fill('Mended, thank you.')
  await press('Comment')
  await reads('Mended, thank you.')
  await reader.reload()

  // It is merged.
  await expect(200, await ada.put('/repos/ada/engine/pulls/1/merge', { merge_method: 'squash' }))
  await until('the merge is in the inbox', async () =>
    (await ben.read('/notifications')).some(({ unread }: { unread: boolean }) => unread),
  )
  await page.goto(`${forge.web}/notifications`)
  await follow('Say what the engine does')
  await isAt('/ada/engine/pull/1')
  await reads('ada merged it into')
  await page.goto(`${forge.web}/ada/engine`)
  await reads('It computes, and it prints.')
  assert.deepEqual(linesOf(await ben.read('/repos/ada/engine/issues/1/comments'), 'body'), ['Mended, thank you.'])
  assert.deepEqual(problems, [])
})
