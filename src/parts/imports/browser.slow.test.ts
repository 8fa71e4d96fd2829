import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn, tabTo } from '#test/browser.ts'
import { openForge } from '#test/forge.ts'
import { Desk } from '#test/git.ts'
import { password, startGitServer, username } from '#test/imports/git-server.ts'
import { applyRunEvent, authorsNamed, openEmpty, present, report, path as route, start } from '#test/imports/import-states.ts'
import { noise } from '#test/imports/svn-repository.ts'
import { until } from '#test/machine.ts'
import { loadImport } from './import-store.ts'
import { recordProgress } from './progress.ts'

const place = '/ada/engine/import'

test('a repository is imported with the keyboard alone, and the page updates without reloading', async () => {
  await using server = await startGitServer()
  const { work } = await server.make('mill')
  // Long enough to be paused in the middle.
  await work.commit('Quarry', { 'stone.bin': noise(1 << 20) })
  for (const message of ['Dig', 'Build', 'Grind']) {
    await work.git('commit', '--quiet', '--allow-empty', '--author', 'bob <bob@host>', '-m', message)
  }
  await work.git('push', '--quiet', 'origin', 'main')
  await using forge = await openForge({ worker: true, settings: { BELFRY_IMPORT_ADDRESSES: 'loopback' } })
  const ada = await forge.person('ada')
  const engine = await ada.owns('engine')
  await using desk = await Desk.open(forge)
  await using browser = await openBrowser()
  const { page, picture, inspect, problems } = browser
  await signIn(page, forge, 'ada', '/ada/engine')
  await picture('import-hint')
  await tabTo(page, `a[href="${place}"]`)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${forge.web}${place}`)
  await tabTo(page, '#vcs_url')
  await page.keyboard.type('file:///etc')
  await tabTo(page, 'button.primary')
  await page.keyboard.press('Enter')
  await page.locator('#vcs_url-error').waitFor()
  await inspect('import-refused')
  await page.getByLabel('URL of the source').fill(`${server.url}/closed/mill`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The source asks for credentials' }).waitFor()
  const { promise, resolve: release } = Promise.withResolvers<void>()
  server.hold(promise)
  await tabTo(page, '#vcs_username')
  await page.keyboard.type(username)
  await tabTo(page, '#vcs_password')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await page.getByText('Fetching the history').waitFor()
  await page.evaluate('window.sameDocument = true')
  await page.getByText('Live', { exact: true }).waitFor()
  await tabTo(page, '#cancel')
  release()
  await page.getByRole('heading', { name: 'Report' }).waitFor()
  assert.equal(await page.evaluate('window.sameDocument'), true)
  assert.equal(await page.title(), 'Imported · ada/engine · Belfry')
  assert.equal(await page.evaluate('document.activeElement.id'), 'cancel')

  await page.locator('[aria-label="Name of bob"]').focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('Bob <Baker>')
  await page.keyboard.press('Enter')
  await page.getByText('Not saved').waitFor()
  await inspect('import-author-refused')
  assert.equal(await page.evaluate('document.activeElement.name'), 'name')
  await page.keyboard.press('Control+A')
  await page.keyboard.type('Bob Baker')
  await tabTo(page, 'button[aria-label="Save bob"]')
  await page.keyboard.press('Enter')
  await page.getByText('Saved.', { exact: true }).waitFor()
  await page.getByText('Authors by correction').waitFor()
  assert.equal(await page.evaluate('document.activeElement.ariaLabel'), 'Save bob')
  assert.equal(await page.evaluate('window.sameDocument'), true)
  const { db } = forge.belfry
  await until('the commits are written', async () => !(await loadImport(db, engine)).active)
  await page.getByText('Correct them').waitFor()
  const clone = await desk.clone(ada, 'ada/engine')
  assert.equal((await clone.git('log', '--format=%an <%ae>', '-1')).trim(), 'Bob Baker <bob@host>')
  await picture('import-complete')
  // Rejected forms are included.
  assert.deepEqual(
    problems.filter((text) => !/ 422 /.test(text)),
    [],
  )
})

const people = authorsNamed('4f1c88e0-5f0c-4ad1-9a5e-0f7b6a3f3f11', 'bob', 'eve', 'sven-arne.bartholomeusson')
const large = ['assets/film/trailer-with-a-rather-long-name-final-2.mov', 'disk.iso'].map((path, index) => ({
  ref_name: 'refs/import/orig/heads/trunk',
  path,
  oid: `${index}`.repeat(40),
  size: 157_286_400 * (index + 1),
}))

test('every state of an import is accessible, on any screen, with and without scripts', async () => {
  await using forge = await openEmpty()
  await using browser = await openBrowser()
  await using plain = await openBrowser({ scripts: false })
  const { page, inspect } = browser
  await signIn(page, forge, 'ada', place)
  await signIn(plain.page, forge, 'ada', '/ada/engine')
  /** The live page, and the page without scripts after a reload. */
  const shows = async (text: string, name: string) => {
    await page.getByText(text).first().waitFor()
    await inspect(`import-${name}`)
    await plain.page.getByText(text).first().waitFor()
  }
  await inspect('import-form')
  await plain.page.getByRole('link', { name: 'import a repository' }).click()
  await plain.page.getByLabel('URL of the source').fill('https://svn.example.com/repos/windmills-of-the-north/and-the-south')
  await plain.page.getByRole('button', { name: 'Start import' }).click()
  await shows('Detecting the kind of the source', 'detecting')

  const refresh = () => plain.page.getByRole('link', { name: 'Refresh' }).click()
  await applyRunEvent(forge, 'found_nothing')
  await refresh()
  await shows('No repository was found', 'nothing')
  await plain.page.getByRole('button', { name: 'Try again' }).click()
  await applyRunEvent(forge, 'found_multiple', {
    project_choices: [
      { vcs: 'subversion', svn_root: 'libs/grain', human_name: 'grain' },
      { vcs: 'subversion', svn_root: 'libs/stones', human_name: 'stones' },
    ],
  })
  await refresh()
  await shows('Which project do you want to import?', 'choices')
  await plain.page.getByRole('button', { name: 'stones' }).click()
  const { id, run } = await present(forge)
  forge.clock.advance(120_000)
  await recordProgress(forge.belfry.db, id, run, { percent: 40, commit_count: 12_345, authors: people })
  await refresh()
  await shows('about 3 minutes left', 'importing')
  assert.equal(await page.locator('progress').getAttribute('value'), '40')

  // Unsaved input is kept.
  const name = page.getByLabel('Name of eve')
  await name.fill('Eve Ad')
  await recordProgress(forge.belfry.db, id, run, {
    percent: 60,
    authors: [{ ...people[0], remote_id: 'x', remote_name: 'x', name: 'x', email: 'x@y' }],
  })
  await page.locator('progress[value="60"]').waitFor()
  assert.equal(await name.inputValue(), 'Eve Ad')
  await name.fill('eve')
  await name.blur()
  await applyRunEvent(forge, 'imported', { commit_count: 20_000, large_files: large })
  await applyRunEvent(forge, 'waits', { large_files: large })
  await refresh()
  await shows('The import waits for your choice', 'large-files')
  await plain.page.getByRole('button', { name: 'Store them with Git LFS' }).click()
  await plain.page.getByText('They are stored with Git LFS').waitFor()
  await plain.page.getByLabel('Email of bob').fill('bob@example.com')
  await plain.page.getByLabel('Email of bob').press('Enter')
  await plain.page.getByText('The author is corrected').waitFor()
  await applyRunEvent(forge, 'failed', {
    message: 'The disk of this server is almost full. Ask an administrator to free space, then restart the import.',
  })
  await plain.page.goto(`${forge.web}${place}`)
  await shows('The import failed at “Map”', 'error')
  await plain.page.getByRole('button', { name: 'Restart' }).click()
  await applyRunEvent(forge, 'imported', { commit_count: 20_000, large_files: large })
  await applyRunEvent(forge, 'mapped', { report })
  await applyRunEvent(forge, 'pushed', {
    published: { 'refs/heads/trunk': 'a'.repeat(40) },
    report: {
      ...report,
      branches_count: 12,
      tags_count: 140,
      notes: { 'empty folders': 31, 'paths that git refuses': 2 },
      verification: {
        branches: 12,
        tags: 140,
        revisions: 200,
        files: 88_123,
        mismatches: [{ where: 'r1774', path: 'src/sails/linen.c', what: 'differs' }],
      },
    },
  })
  forge.clock.advance(125_000)
  await refresh()
  await shows('1 difference found', 'report')
  await plain.page.getByRole('link', { name: 'Forget this import' }).click()
  await plain.page.getByRole('button', { name: 'Forget it' }).click()
  await plain.page.getByText('The import is deleted').waitFor()
  await page.getByLabel('URL of the source').waitFor()
  assert.equal((await forge.ada.get(route)).status, 404)
  await start(forge.ada)
  await page.getByText('Detecting the kind of the source').waitFor()
})
