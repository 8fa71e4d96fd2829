import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, signIn } from '#test/browser.ts'
import { openWithEngine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { seeding } from '#test/seeding.ts'

const releases = '/repos/ada/engine/releases'
const seed = seeding('ada', async (work) => ({ branches: { main: await work.commit('Begin') } }))

async function openSeeded() {
  const forge = await openWithEngine()
  await seed(forge, forge.ada)
  return forge
}

const _file = (name: string, content = 'contents', type = 'text/plain') => new File([content], name, { type })

test('a browser uploads files, with scripts and without', async () => {
  await using forge = await openSeeded()
  for (const scripts of [true, false]) {
    await using browser = await openBrowser({ scripts })
    const { page, problems } = browser
    const tag = scripts ? 'v1' : 'v2'
    await signIn(page, forge, 'ada', '/ada/engine/releases/new')
    await page.getByLabel('Tag', { exact: true }).fill(tag)
    const buffer = Buffer.alloc(300_000, 'x')
    await page.getByLabel('Add files').setInputFiles([{ name: 'engine.bin', mimeType: 'application/octet-stream', buffer }])
    await page.getByRole('button', { name: 'Publish release' }).click()
    await page.getByText('The release is published.').waitFor()
    assert.match(page.url(), new RegExp(`/releases/tag/${tag}`))
    const [asset] = (await expect(200, await forge.ada.get(`${releases}/tags/${tag}`))).assets
    assert.equal(asset.size, buffer.length)
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByText('Rename').click()
    if (scripts) await browser.inspect('release-files')
    await page.getByLabel('Label').fill('The engine')
    await page.getByRole('button', { name: 'Save file' }).click()
    await page.getByText('engine.bin is saved').waitFor()
    if (!scripts) continue
    await page.getByLabel('Title').fill('Kept')
    await page
      .getByLabel('Add files')
      .setInputFiles([{ name: 'engine.bin', mimeType: 'text/plain', buffer: Buffer.from('again') }])
    await page.getByRole('button', { name: 'Save release' }).click()
    await page.getByText('already has a file engine.bin').waitFor()
    assert.equal(await page.getByLabel('Title').inputValue(), 'Kept')
    assert.deepEqual(
      problems.filter((text) => !text.includes('422')),
      [],
    )
  }
})
