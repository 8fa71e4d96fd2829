import assert from 'node:assert/strict'
import { test } from 'node:test'
import { check, openBrowser, settled, signIn } from '#test/browser.ts'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'

const rich = `# Smoke
It **smokes**, as @ben and @acme/writers know; see #2, ada/engine#1 and https://example.com/a?b=c.

- [x] open the window
- [ ] find the ~~fire~~ source

| part | state |
|:-----|------:|
| boiler | \`hot\` |
| wheel | fine |

> quoted
> > twice

\`\`\`ts
const answer = await fetch('https://example.com/a/very/long/address/that/does/not/fit/on/any/telephone/at/all')
\`\`\`
1. one
2. two

![a picture](https://example.com/picture.png)`

const hostile = `<script>document.title = 'taken over'</script>
<img src=x onerror="document.title = 'taken over'">
<style>body { display: none }</style>
[click](javascript:document.title='taken%20over') <a href="javascript:alert(1)">here</a>
![x](https://elsewhere.example/spy.png) <iframe src="https://elsewhere.example"></iframe>
<form action="https://elsewhere.example"><button>Send</button></form>
</div></article></main><h1>Broken out</h1>
${'unbroken'.repeat(60)}`

const hostileName = "'><img src=x onerror=document.title=1>"

test('a browser shows an issue and posts a comment, with rich and with hostile text', async () => {
  await using forge = await openWithEngine()
  await using browser = await openBrowser()
  const { page, picture } = browser
  const elsewhere: string[] = []
  page.on('request', (request) => void (request.url().startsWith(forge.web) || elsewhere.push(request.url())))
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'bug', color: 'd73a4a', description: 'It is broken' }))
  await expect(201, await forge.ada.post(`${engine}/labels`, { name: 'a label with a rather long name', color: 'ffffff' }))
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: 'Steam' }))
  const sorted = { labels: ['bug', 'a label with a rather long name'], assignees: ['ben', 'cy'], milestone: 1 }
  await forge.open({ title: 'Smoke & <b>mirrors</b>', body: rich, ...sorted })
  await forge.open({ title: 'W'.repeat(200) }, forge.dan)
  await expect(201, await forge.dan.post(`${engine}/issues/1/comments`, { body: hostile }))

  await page.goto(`${forge.web}/ada/engine/issues/1`)
  await page.getByText('Broken out').waitFor()
  await check(page)
  await picture('issue-signed-out')
  assert.equal(await page.title(), 'Smoke & <b>mirrors</b> · Issue #1 · ada/engine · Belfry')
  assert.equal(await page.locator('.markdown').locator('script, img, style, iframe, form, h1:has-text("Broken")').count(), 0)
  assert.equal(await page.locator('a[href^="javascript" i]').count(), 0)
  assert.equal(
    await page.locator('.markdown').first().getByRole('link', { name: '#2' }).getAttribute('href'),
    '/ada/engine/issues/2',
  )

  await signIn(page, forge, 'dan', '/ada/engine/issues/1')
  await page.getByLabel('Comment on this issue').fill('Thank you, @ada.\n\n```\ncode\n```')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.locator('.post', { hasText: 'Thank you' }).waitFor()
  assert.equal(await page.getByLabel('Comment on this issue').inputValue(), '')
  await picture('issue')

  await page.getByRole('link', { name: 'Issues 2' }).click()
  await page.waitForURL(`${forge.web}/ada/engine/issues`)
  await picture('issues')
  await page.getByRole('link', { name: 'New issue' }).click()
  await page.getByLabel('Title').fill('Steam')
  await picture('new-issue')
  await page.getByRole('button', { name: 'Open issue' }).click()
  await page.getByRole('button', { name: 'Close issue' }).click()
  await page.getByRole('button', { name: 'Reopen issue' }).waitFor()
  assert.deepEqual(elsewhere, [])
})

test('a link to an old comment of a long conversation opens it', async () => {
  await using forge = await openWithEngine()
  await using browser = await openBrowser()
  await forge.open()
  const first = await expect(201, await forge.ada.post(`${engine}/issues/1/comments`, { body: 'The first of many' }))
  for (let index = 0; index < 60; index++) await forge.ada.post(`${engine}/issues/1/comments`, { body: `Line ${index}` })
  await browser.page.goto(first.html_url)
  await browser.page.getByText('The first of many').waitFor()
  assert.equal(new URL(browser.page.url()).hash, `#issuecomment-${first.id}`)
})

test('a maintainer sorts and answers an issue with mouse and keyboard', async () => {
  await using forge = await openWithEngine()
  await using browser = await openBrowser()
  const { page, inspect, picture, problems } = browser
  for (const name of ['bug', 'easy', hostileName]) {
    await expect(201, await forge.ada.post(`${engine}/labels`, { name, color: 'd73a4a', description: hostileName }))
  }
  await expect(201, await forge.ada.post(`${engine}/milestones`, { title: `Steam ${hostileName}`, description: hostile }))
  await forge.open(
    { title: `Smoke ${hostileName}`, body: '- [ ] look\n- [ ] mend', labels: [hostileName], milestone: 1 },
    forge.ben,
  )
  await forge.open({ title: '\u202Edaer ot drah', body: hostile }, forge.dan)
  await signIn(page, forge, 'ada', '/ada/engine/issues')
  await picture('issue-list')

  await page.getByRole('group').filter({ hasText: 'Label' }).locator('summary').click()
  await page.getByRole('link', { name: hostileName }).first().click()
  await page.waitForURL(/label%3A/)
  await settled(page)
  assert.equal(await page.locator('.issue-title').count(), 1)
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${forge.web}/ada/engine/issues/1`)

  await page.getByRole('checkbox', { name: 'to do' }).first().check()
  await page.getByRole('checkbox', { name: 'done' }).waitFor()
  assert.equal((await forge.ada.read(`${engine}/issues/1`)).body, '- [x] look\n- [ ] mend')

  await page.keyboard.press('l')
  await page.getByRole('checkbox', { name: 'easy' }).check()
  await page.getByRole('button', { name: 'Apply' }).first().click()
  await page.locator('.timeline-item', { hasText: 'added' }).getByText('easy').waitFor()

  await page.getByLabel('Add a reaction').first().click()
  await page.getByTitle('rocket').first().click()
  await page.locator('.reaction[aria-pressed="true"]').waitFor()

  await page.keyboard.press('r')
  await page.keyboard.type('Thank **you**')
  await page.getByRole('tab', { name: 'Preview' }).click()
  await page.locator('.composer-preview strong', { hasText: 'you' }).waitFor()
  await inspect('issue-preview')
  await page.getByRole('tab', { name: 'Write' }).click()
  await page.reload()
  assert.equal(await page.getByLabel('Comment on this issue').inputValue(), 'Thank **you**', 'a draft is kept')
  await page.getByLabel('Comment on this issue').press('Control+Enter')
  const comment = page.locator('.post', { hasText: 'Thank you' })
  await comment.waitFor()
  assert.equal(await page.getByLabel('Comment on this issue').inputValue(), '')

  await comment.getByLabel('More').click()
  await comment.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Text', { exact: true }).waitFor()
  await inspect('issue-edit')
  await page.getByLabel('Text', { exact: true }).fill('Thanks')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.locator('.post > .markdown', { hasText: 'Thanks' }).waitFor()
  await page.getByLabel('Close with a reason').click()
  await page.getByRole('button', { name: 'Close as not planned' }).click()
  await page.getByText('closed this as not planned').waitFor()
  await inspect('issue-closed')
  for (const path of ['labels?new', 'milestones', 'milestone/1', 'milestones/new', 'issues/new', 'issues/2']) {
    await page.goto(`${forge.web}/ada/engine/${path}`)
    await (path === 'labels?new' ? inspect : picture)(path.replaceAll(/\W/g, '-'))
    assert.notEqual(await page.title(), 'taken over')
  }
  assert.deepEqual(problems, [])
})

test('without scripts, Enter in the title opens the issue, and Enter in a selection of issues does nothing', async () => {
  await using forge = await openWithEngine()
  await using browser = await openBrowser({ scripts: false })
  const { page, picture } = browser
  await signIn(page, forge, 'ada', '/ada/engine/issues/new')
  await picture('new-issue-without-scripts')
  await page.getByLabel('Title').fill('Smoke at Enter')
  await page.getByLabel('Title').press('Enter')
  await page.waitForURL(/\/issues\/\d+$/)
  const number = page.url().split('/').at(-1)
  await page.goto(`${forge.web}/ada/engine/issues`)
  const box = page.locator('input[form="bulk"]').first()
  await box.check()
  await box.press('Enter')
  assert.equal((await forge.ada.read(`/repos/ada/engine/issues/${number}`)).state, 'open')
  assert.match(page.url(), /\/ada\/engine\/issues$/)
})
