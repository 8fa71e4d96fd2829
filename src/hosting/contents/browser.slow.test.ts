import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBrowser, settled, signIn } from '#test/browser.ts'
import { openEngine } from '#test/git.ts'

const long = 'word'.repeat(60)

test('a contributor reads the code of a repository by keyboard, on any screen', async () => {
  await using engine = await openEngine()
  await using browser = await openBrowser()
  const { work, forge } = engine
  const { page, inspect, picture, problems } = browser
  const code = Array.from({ length: 60 }, (_, line) => `const line${line} = "${line}" // ${line === 20 ? long : 'x'}`).join('\n')
  await signIn(page, forge, 'ada', '/ada/engine')
  await page.getByRole('heading', { name: 'This repository is empty' }).waitFor()
  await inspect('code-empty')
  await work.commit(`Begin <b> ${long}`, {
    'README.md': `# Engine\n\n[Start](#the-end) ${long}\n\n## The end\n\n![Logo](logo.svg)\n`,
    'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>',
    'src/deep/engine.ts': `${code}\n`,
    [`${'long'.repeat(30)}.txt`]: '<script>alert(1)</script>',
    'مرحبا.txt': 'x',
  })
  await work.push('HEAD', `HEAD:refs/heads/feature/${'b'.repeat(120)}`, 'HEAD:refs/tags/v1')

  await page.goto(`${forge.web}/ada/engine`)
  await picture('code-overview')
  await page.getByText('main', { exact: true }).first().click()
  await page.getByLabel('Find a branch or tag').fill('FEAT')
  assert.equal(await page.locator('.ref-menu li a:visible .ref-name').count(), 1)
  await page.getByLabel('Find a branch or tag').fill('v1')
  await page.locator('.ref-menu').getByRole('link', { name: 'v1' }).click()
  await page.waitForURL('**/tree/v1')
  await settled(page)
  await page.getByRole('button', { name: 'Copy: Address for git clone', includeHidden: true }).waitFor({ state: 'attached' })

  await page.keyboard.press('t')
  await page.waitForURL('**/find/v1')
  await page.getByLabel('In engine at v1').pressSequentially('deepeng')
  await page.getByRole('status').getByText('1 file.').waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/blob/v1/src/deep/engine.ts')
  await settled(page)
  await picture('code-file')
  await page.getByRole('link', { name: '5', exact: true }).click()
  await page.getByRole('link', { name: '8', exact: true }).click({ modifiers: ['Shift'] })
  assert.equal(new URL(page.url()).hash, '#L5-L8')
  assert.equal(await page.locator('.line.chosen').count(), 4)
  await page.keyboard.press('y')
  await page.waitForURL(/\/blob\/[0-9a-f]{40}\/src\/deep\/engine\.ts#L5-L8$/)
  await page.reload()
  assert.equal(await page.locator('.line.chosen').count(), 4)

  await page.keyboard.press('b')
  await page.waitForURL('**/blame/**')
  await picture('code-blame')
  await page.goto(`${forge.web}/ada/engine/blob/main/README.md`)
  await page.keyboard.press('e')
  await page.waitForURL('**/edit/main/README.md')
  await picture('code-edit')
  await page.getByLabel('Contents').fill('# Changed\n')
  await page.getByRole('button', { name: 'Commit changes' }).click()
  await page.getByRole('heading', { name: 'Changed' }).waitFor()
  await page.goto(`${forge.web}/ada/engine/branches`)
  await picture('code-branches')
  await page.getByText('New branch').click()
  await page.getByRole('textbox', { name: 'Name' }).fill('topic/"one"')
  await page.getByRole('button', { name: 'Create branch' }).click()
  await page.getByText('The branch topic/"one" is created.').waitFor()
  assert.deepEqual(problems, [])
})
