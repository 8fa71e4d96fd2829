import assert from 'node:assert/strict'
import { test } from 'node:test'
import { organizationWebhookNames, webhookNames } from '#activity/acts.ts'
import { expect } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { settle } from '#test/hook-history.ts'
import { hooksAt, openTargets, organization, repository } from '#test/hook-targets.ts'
import { hookOn } from '#test/webhooks.ts'

const secret = 'Nobody may see this'
const filled = { url: 'https://hooks.example/a?b=c&d', content_type: 'json', insecure_ssl: '0', active: '1', pick: 'push' }

test('the pages are 404 for users without admin access, and ask signed-out visitors to sign in', async () => {
  await using forge = await openTargets()
  const [ben, cy, nobody] = [await signedIn(forge, 'ben'), await signedIn(forge, 'cy'), new Guest(forge)]
  const ada = await signedIn(forge, 'ada')
  const hooks = [await hookOn(forge.ada, 'repos/ada/engine', '*'), await hookOn(forge.ada, 'orgs/acme', '*')]
  await settle(forge, { id: hooks[0]?.id ?? 0 })
  const [delivery] = await forge.ada.read(`/repos/ada/engine/hooks/${hooks[0]?.id}/deliveries`)
  for (const [index, place] of [repository, organization].entries()) {
    const path = `${place}/${hooks[index]?.id}`
    const shown = ['', '/edit', '/delete', '/diagnose', ...(index === 0 ? [`/deliveries/${delivery.id}`] : [])].map(
      (end) => path + end,
    )
    for (const page of [place, `${place}/new`, ...shown]) {
      assert.equal((await ada.get(page)).status, 200, page)
      for (const guest of [ben, cy]) {
        const answer = await guest.get(page)
        assert.equal(answer.status, 404, page)
        assert.match(answer.text, /There is no such page/)
      }
      assert.equal((await nobody.get(page)).location, `/login?return_to=${encodeURIComponent(page)}`)
    }
    for (const guest of [ben, cy, nobody]) assert.equal((await guest.get(`${path}/stream`)).status, 404)
    for (const form of [
      `${place}/new`,
      ...['/edit', '/delete', '/pings', '/diagnose', '/tests', `/deliveries/${delivery.id}/attempts`].map((end) => path + end),
    ]) {
      for (const guest of [ben, cy]) assert.equal((await guest.post(form, filled)).status, 404, form)
      assert.equal((await ada.post(form, { ...filled, csrf: 'x' })).status, 403, form)
    }
    assert.equal((await hooksAt(forge, place)).length, 1)
  }
  // Hooks and deliveries of other targets, and invalid ids, are 404.
  const [own, other] = [`${repository}/${hooks[0]?.id}`, `${repository}/${hooks[1]?.id}`]
  for (const end of ['', '/edit', '/delete', '/diagnose', '/stream', `/deliveries/${delivery.id}`]) {
    assert.equal((await ada.get(other + end)).status, 404, end)
    for (const id of ['0', '-1', 'x', '1e3', '9'.repeat(16), '%00']) {
      assert.ok([400, 404].includes((await ada.get(`${repository}/${id}${end}`)).status), id + end)
    }
  }
  for (const id of ['1', 'x', '9'.repeat(15), '9'.repeat(30)])
    assert.equal((await ada.get(`${own}/deliveries/${id}`)).status, 404)
  assert.equal((await ada.post(`${organization}/${hooks[1]?.id}/tests`, {})).status, 404)
  const repositoryPage = await ada.get('/ada/engine/settings')
  assert.match(repositoryPage.text, /href="\/ada\/engine\/settings\/hooks"/)
  assert.equal((await ben.get('/ada/engine')).text.includes('settings/hooks'), false)
  assert.match((await ada.get('/organizations/acme/settings/profile')).text, /href="\/organizations\/acme\/settings\/hooks"/)
  assert.equal((await ben.get('/acme')).text.includes('settings/hooks'), false)
})

test('a webhook of a repository or an organization is created, changed and deleted by plain forms', async () => {
  await using forge = await openTargets()
  const ada = await signedIn(forge, 'ada')
  for (const place of [repository, organization]) {
    assert.match((await ada.get(place)).text, /Connect your own programs/)
    const made = await ada.fill(`${place}/new`, { ...filled, secret })
    const [hook] = await hooksAt(forge, place)
    assert.equal(made.location, `${place}/${hook.id}?done=created`)
    assert.deepEqual([hook.config.url, hook.config.content_type, hook.events, hook.active], [filled.url, 'json', ['push'], true])
    const path = `${place}/${hook.id}`
    const config = () => forge.ada.read(`${place === repository ? '/repos/ada/engine' : '/orgs/acme'}/hooks/${hook.id}/config`)
    assert.equal((await config()).secret, '********')
    assert.match((await ada.get(place)).text, /hooks\.example[\s\S]*Nothing sent yet/)

    const change = {
      ...filled,
      url: 'https://hooks.example/b',
      content_type: 'form',
      insecure_ssl: '1',
      pick: 'some',
      events: ['issues', 'star'],
      secret_wish: 'keep',
    }
    const { active: _, ...inactive } = change
    assert.equal((await ada.fill(`${path}/edit`, inactive)).location, `${path}/edit?done=saved`)
    const [changed] = await hooksAt(forge, place)
    assert.deepEqual(
      [changed.config, changed.events, changed.active],
      [{ content_type: 'form', insecure_ssl: '1', url: change.url }, ['issues', 'star'], false],
    )
    assert.equal((await config()).secret, '********')
    const edit = await ada.get(`${path}/edit?done=saved`)
    assert.match(edit.text, /role="status">.*Saved/)
    assert.match(edit.text, /value="some" checked/)
    assert.match(edit.text, /value="star" checked/)
    assert.equal(/value="push" checked/.test(edit.text), false)
    assert.match((await ada.get(place)).text, /inactive[\s\S]*certificates not checked/)

    await ada.post(`${path}/edit`, { ...change, secret_wish: 'replace', secret: `${secret}, either` })
    assert.match(
      (await ada.get(`${path}/edit`)).text,
      /The former secret also signs until <time class="ago" datetime="2026-02-04T04:05:06/,
    )
    assert.equal((await ada.post(`${path}/edit`, { ...change, secret_wish: 'replace', secret: '' })).status, 422)
    assert.equal((await config()).secret, '********')
    await ada.post(`${path}/edit`, { ...change, secret_wish: 'remove', secret: 'typed in vain' })
    assert.equal((await config()).secret, undefined)
    await ada.post(`${path}/edit`, { ...change, pick: 'all' })
    assert.deepEqual((await hooksAt(forge, place))[0].events, ['*'])

    assert.match((await ada.get(`${path}/delete`)).text, /Delete this webhook\?/)
    assert.equal((await ada.post(`${path}/delete`, {})).location, `${place}?done=deleted`)
    assert.match((await ada.get(`${place}?done=deleted`)).text, /The webhook is deleted/)
    assert.deepEqual(await hooksAt(forge, place), [])
    assert.equal((await ada.get(path)).status, 404)
  }
})

test('errors are shown beside their field, the input is kept, and a secret is never shown', async () => {
  await using forge = await openTargets()
  const ada = await signedIn(forge, 'ada')
  const form = `${repository}/new`
  await ada.get(form)
  const errorOf = (text: string, name: string) => new RegExp(`id="${name}-error">([^<]*)<`).exec(text)?.[1]
  const typed = { ...filled, pick: 'some', events: ['issues', 'nonsense'], insecure_ssl: '1', secret }
  const cases: [fields: Record<string, string | string[]>, name: string, error: RegExp][] = [
    [{ url: '' }, 'url', /^This cannot be blank\.$/],
    [{ url: 'ftp://x' }, 'url', /^The address must begin with http/],
    [{ url: 'http://169.254.169.254/"><script>' }, 'url', /\w/],
    [{ url: `https://x/${'y'.repeat(2048)}` }, 'url', /longer than 2048/],
    [{ content_type: 'xml' }, 'content_type', /^This must be json or form\.$/],
    [{}, 'events', /nonsense/],
    [{ secret: 'x'.repeat(1025) }, 'secret', /longer than 1024/],
    [{ events: Array.from({ length: 251 }, (_, index) => `e${index}`) }, 'events', /longer than 250/],
    [{ events: ['\0push\0', '<b>'] }, 'events', /&lt;b&gt;/],
  ]
  for (const [fields, name, error] of cases) {
    const answer = await ada.post(form, { ...typed, ...fields })
    assert.equal(answer.status, 422, name)
    assert.match(errorOf(answer.text, name) ?? '', error)
    assert.match(answer.text, /role="alert"/)
    assert.equal(answer.text.includes(secret), false)
    assert.equal(answer.text.includes('<script>'), false)
    assert.match(answer.text, /name="insecure_ssl" value="1" checked/)
    if (!('events' in fields)) assert.match(answer.text, /value="issues" checked/)
    if (name !== 'url') assert.match(answer.text, /value="https:\/\/hooks\.example\/a\?b=c&amp;d"/)
  }
  assert.deepEqual(await hooksAt(forge, repository), [])
  await ada.post(form, { ...filled, secret })
  const twice = await ada.post(form, filled)
  assert.equal(twice.status, 422)
  assert.match(twice.text, /role="alert">Hook already exists on this repository/)
  const [hook] = await hooksAt(forge, repository)
  const refused = await ada.post(`${repository}/${hook.id}/edit`, { ...filled, url: 'x', secret_wish: 'replace', secret })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /Type the secret again, because the form does not keep it/)
  for (const end of ['', `/${hook.id}`, `/${hook.id}/edit`, `/${hook.id}/delete`]) {
    assert.equal((await ada.get(repository + end)).text.includes(secret), false)
  }
  assert.equal(
    forge.logged.some((line) => line.includes(secret)),
    false,
  )

  await expect(200, await forge.ada.patch('/repos/ada/engine', { archived: true }))
  assert.equal((await ada.post(form, { ...filled, url: 'https://other.example' })).status, 403)
})

test('every event that Belfry sends can be selected, and other events of a hook are kept', async () => {
  await using forge = await openTargets()
  const ada = await signedIn(forge, 'ada')
  const boxes = async (path: string) =>
    [...(await ada.get(path)).text.matchAll(/name="events" value="(\w+)"/g)].map(([, name]) => name)
  assert.deepEqual((await boxes(`${repository}/new`)).toSorted(), [...webhookNames, 'meta', 'team_add'].toSorted())
  await forge.organization('works', forge.ada)
  const offered = new Set(await boxes('/organizations/works/settings/hooks/new'))
  assert.deepEqual(
    organizationWebhookNames.filter((name) => !offered.has(name)),
    [],
  )
  const { id } = await hookOn(forge.ada, 'repos/ada/engine', 'push', 'check_run')
  assert.ok((await boxes(`${repository}/${id}/edit`)).includes('check_run'))
  assert.match(
    (await ada.get(`${repository}/${id}`)).text,
    new RegExp(`belfry listen --hook ${forge.ada.base}/repos/ada/engine/hooks/${id} --forward`),
  )
  const none = await ada.post(`${repository}/new`, { ...filled, pick: 'some' })
  assert.equal(none.status, 422)
  assert.match(none.text, /id="events-error">Choose at least one/)
  await hookOn(forge.ada, 'repos/ada/engine')
  assert.match((await ada.get(repository)).text, /Events: no events/)
})
