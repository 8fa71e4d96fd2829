import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toldEvents } from '#parts/webhooks/events.ts'
import { sql } from '#platform/database.ts'
import { expect, type Forge, openForge } from '#test/forge.ts'
import { Guest, signedIn } from '#test/guest.ts'
import { pinged, settle } from '#test/hook-history.ts'
import { hookOn, openReceiver } from '#test/webhooks.ts'

const secret = 'Nobody may see this'
const repository = '/ada/engine/settings/hooks'
const organization = '/organizations/acme/settings/hooks'

/** Ada runs a repository and an organization; Ben pushes to the one and is a member of the other; Cy is a stranger. */
async function openPlaces() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  await ada.owns('engine', { private: true, auto_init: true })
  await forge.organization('acme', ada)
  await expect(200, await ada.put('/orgs/acme/memberships/ben', { role: 'member' }))
  await expect(201, await ada.put('/repos/ada/engine/collaborators/ben', { permission: 'maintain' }))
  const [{ id }] = await ben.read('/user/repository_invitations')
  await expect(204, await ben.patch(`/user/repository_invitations/${id}`))
  return Object.assign(forge, { ada, ben, cy })
}

const filled = { url: 'https://hooks.example/a?b=c&d', content_type: 'json', insecure_ssl: '0', active: '1', pick: 'push' }

/** The hooks of a place as the interface shows them. */
const hooksAt = (forge: Awaited<ReturnType<typeof openPlaces>>, path: string) =>
  forge.ada.read(path === repository ? '/repos/ada/engine/hooks' : '/orgs/acme/hooks')

test('whoever does not run the place finds none of its pages, and whoever is signed out is asked who they are', async () => {
  await using forge = await openPlaces()
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
  // One place's hooks and deliveries are not another's, and what is no id names nothing.
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
  const repositoryPage = await ada.get('/ada/engine')
  assert.match(repositoryPage.text, /href="\/ada\/engine\/settings\/hooks"/)
  assert.equal((await ben.get('/ada/engine')).text.includes('settings/hooks'), false)
  assert.match((await ada.get('/acme')).text, /href="\/organizations\/acme\/settings\/hooks"/)
  assert.equal((await ben.get('/acme')).text.includes('settings/hooks'), false)
})

test('a webhook is made, changed and deleted by plain forms, for a repository as for an organization', async () => {
  await using forge = await openPlaces()
  const ada = await signedIn(forge, 'ada')
  for (const place of [repository, organization]) {
    assert.match((await ada.get(place)).text, /Tell your own programs what happens here/)
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
    assert.match(edit.text, /role="status">Saved/)
    assert.match(edit.text, /value="some" checked/)
    assert.match(edit.text, /value="star" checked/)
    assert.equal(/value="push" checked/.test(edit.text), false)
    assert.match((await ada.get(place)).text, /inactive[\s\S]*certificates not checked/)

    await ada.post(`${path}/edit`, { ...change, secret_wish: 'replace', secret: `${secret}, either` })
    assert.match((await ada.get(`${path}/edit`)).text, /The former secret signs too until <time datetime="2026-02-04T04:05:06/)
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

test('what is wrong is said beside its field, what was typed is kept, and a secret is never shown', async () => {
  await using forge = await openPlaces()
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
  assert.match(refused.text, /Type it again: a secret is not kept in a form/)
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

test('every event that is told can be picked, and one that is not stays with a hook that has it', async () => {
  await using forge = await openPlaces()
  const ada = await signedIn(forge, 'ada')
  const boxes = async (path: string) =>
    [...(await ada.get(path)).text.matchAll(/name="events" value="(\w+)"/g)].map(([, name]) => name)
  assert.deepEqual((await boxes(`${repository}/new`)).toSorted(), toldEvents.filter((name) => name !== 'ping').toSorted())
  const { id } = await hookOn(forge.ada, 'repos/ada/engine', 'push', 'check_run')
  assert.ok((await boxes(`${repository}/${id}/edit`)).includes('check_run'))
  assert.match(
    (await ada.get(`${repository}/${id}`)).text,
    new RegExp(`belfry listen --hook ${forge.ada.base}/repos/ada/engine/hooks/${id} --forward`),
  )
  const none = await ada.post(`${repository}/new`, { ...filled, pick: 'some' })
  assert.equal(none.status, 422)
  assert.match(none.text, /id="events-error">Choose one at least/)
  await hookOn(forge.ada, 'repos/ada/engine')
  assert.match((await ada.get(repository)).text, /Hears of no events/)
})

test('deliveries are listed, counted, plotted, looked at and sent again', async () => {
  await using forge = await openPlaces()
  const ada = await signedIn(forge, 'ada')
  const hooks = '/repos/ada/engine/hooks'
  const hook = await expect(
    201,
    await forge.ada.post(hooks, { config: { url: 'https://hooks.example/', secret }, events: ['push', 'issues'] }),
  )
  const path = `${repository}/${hook.id}`
  const page = async (query = '') => (await ada.get(path + query)).text
  const rows = (text: string) => [...text.matchAll(/data-id="(\d+)"/g)].map(([, id]) => id)
  const waiting = await page('?done=created')
  assert.match(waiting, /a ping is on its way/)
  assert.equal(waiting.includes('belfry listen'), false)
  assert.match(waiting, /<dt>Waiting<\/dt><dd>1</)
  assert.match(waiting, /Nothing was delivered in the last 24 hours/)
  await settle(forge, hook)
  forge.clock.advance(3_600_000)
  for (let round = 0; round < 33; round++) await pinged(forge, forge.ada, hooks, hook, { duration: 0.1 })
  await pinged(forge, forge.ada, hooks, hook, {
    status: 'timed out',
    status_code: 504,
    duration: 30,
    response_headers: null,
    response_body: null,
  })
  const newest = await page()
  assert.match(
    newest,
    /Of 35 in the last 24 hours, 34 succeeded and 1 failed\. Half took 100 ms or less, [^.]*the slowest took 30 s\./,
  )
  assert.match(newest, /<dt>Succeeded<\/dt><dd>97\.1%</)
  assert.match(newest, /Last delivery: timed out/)
  assert.equal(rows(newest).length, 30)
  const next = /href="[^"]*(\?cursor=[^"]*)" rel="next"/.exec(newest)?.[1] ?? ''
  assert.equal(rows(await page(next)).length, 5)
  assert.deepEqual(new Set([...rows(newest), ...rows(await page(next))]).size, 35)
  assert.match(await page(next), /rel="prev"/)
  assert.equal(rows(await page('?status=failure')).length, 1)
  assert.equal(rows(await page('?status=success&span=month')).length, 30)
  assert.match(await page('?span=month'), /in the last 30 days/)
  assert.equal((await ada.get(`${path}?cursor=nonsense`)).status, 400)
  for (const query of ['?span=toString&status=constructor', '?done=toString', '?cursor=v1_1']) {
    const odd = await ada.get(path + query)
    assert.equal(odd.status, 200)
    assert.equal(/native code|undefined/.test(odd.text), false, query)
  }

  await expect(201, await forge.ada.post('/repos/ada/engine/issues', { title: '</pre><script>alert(1)</script>' }))
  const answer = {
    content_type: 'application/x-www-form-urlencoded',
    response_headers: { 'x-odd': '<b>"' },
    response_body: '<script>alert(2)</script>',
    status: 'Invalid HTTP Response: 404',
    status_code: 404,
  }
  await settle(forge, hook, answer)
  const [newestId] = rows(await page())
  const shown = await ada.get(`${path}/deliveries/${newestId}`)
  for (const text of [
    'issues.opened',
    'X-GitHub-Delivery',
    'webhook-timestamp',
    '404 refused',
    '&lt;b&gt;',
    '&lt;script&gt;alert(2)',
    '&lt;/pre&gt;&lt;script&gt;',
    '  <span class="j-name">&quot;action&quot;</span>: <span class="j-text">&quot;opened&quot;</span>',
  ]) {
    assert.ok(shown.text.includes(text), text)
  }
  assert.equal(/<script>|Nobody may see this/.test(shown.text), false)
  assert.match(shown.text, /Sent as a form/)

  const attempt = await ada.post(`${path}/deliveries/${newestId}/attempts`, {})
  assert.equal(attempt.location, `${path}?done=again`)
  await settle(forge, hook)
  assert.match(await page(), /sent again/)
  assert.equal((await ada.post(`${path}/tests`, {})).location, `${path}?done=unheard`)
  await expect(201, await forge.ada.put('/repos/ada/engine/contents/steam', { message: 'Steam', content: 'c3RlYW0=' }))
  await settle(forge, hook)
  assert.equal((await ada.post(`${path}/tests`, {})).location, `${path}?done=tested`)
  await settle(forge, hook)
  assert.match(await page(), /class="title"[^>]*>push</)
  assert.equal((await ada.post(`${path}/pings`, {})).location, `${path}?done=pinged`)
  await forge.ada.patch(`${hooks}/${hook.id}`, { active: false })
  assert.equal((await ada.post(`${path}/tests`, {})).location, `${path}?done=unheard`)

  forge.clock.advance(25 * 3_600_000)
  assert.match(await page(), /Nothing was delivered in the last 24 hours/)
  forge.clock.advance(31 * 86_400_000)
  assert.match((await (await signedIn(forge, 'ada')).get(repository)).text, /Nothing sent for 30 days/)
})

test('deliveries of an organization say which repository they are about', async () => {
  await using forge = await openPlaces()
  const ada = await signedIn(forge, 'ada')
  const hook = await hookOn(forge.ada, 'orgs/acme', 'issues')
  await expect(201, await forge.ada.post('/orgs/acme/repos', { name: 'site' }))
  await expect(201, await forge.ada.post('/repos/acme/site/issues', { title: 'Broken link' }))
  await settle(forge, hook)
  const { text } = await ada.get(`${organization}/${hook.id}`)
  assert.match(text, /issues\.opened<\/a> <span class="muted">acme\/site</)
  assert.equal(text.includes('Send the latest push'), false)
  const again = /href="([^"]*deliveries\/\d+)"/.exec(text)?.[1] ?? ''
  assert.equal((await ada.post(`${again}/attempts`, {})).location, `${organization}/${hook.id}?done=again`)

  // Where it has gone is not for those who cannot see it there.
  await expect(202, await forge.ada.post('/repos/acme/site/transfer', { new_owner: 'cy', new_name: 'hidden' }))
  await forge.cy.patch('/repos/cy/hidden', { private: true })
  assert.equal((await ada.get(`${organization}/${hook.id}`)).text.includes('cy/hidden'), false)
})

test('what is held back says until when', async () => {
  await using forge = await openPlaces()
  const ada = await signedIn(forge, 'ada')
  const hooks = '/repos/ada/engine/hooks'
  const hook = await expect(201, await forge.ada.post(hooks, { config: { url: 'https://hooks.example/' } }))
  const down = { status: 'failed to connect to host', status_code: 502, response_headers: null, response_body: null }
  await settle(forge, hook, down)
  for (let round = 0; round < 14; round++) await pinged(forge, forge.ada, hooks, hook, down)
  await forge.ada.post(`${hooks}/${hook.id}/pings`)
  const { db } = forge.belfry
  await db.query(sql`update unsent set throttled_at = ${db.now} where hook_id = ${hook.id}`)
  const { text } = await ada.get(`${repository}/${hook.id}`)
  assert.match(text, /Held back until <time datetime="2026-02-03T04:05:\d/)
  assert.match(text, /failed 15 times in a row/)
  assert.match(text, /<dt>Waiting<\/dt><dd>1 <span class="part">1 held back/)
  assert.match((await ada.get(repository)).text, /Held back until/)
  const [delivery] = await forge.ada.read(`${hooks}/${hook.id}/deliveries`)
  assert.match(
    (await ada.get(`${repository}/${hook.id}/deliveries/${delivery.id}`)).text,
    /No answer came: failed to connect to host/,
  )
  forge.clock.advance(3_600_000)
  assert.equal((await ada.get(repository)).text.includes('Held back until'), false)
})

test('a webhook is diagnosed step by step', async () => {
  await using forge = await openPlaces()
  await using receiver = await openReceiver((response) => response.writeHead(receiver.received.length > 1 ? 500 : 200).end('ok'))
  const ada = await signedIn(forge, 'ada')
  const { id } = await expect(201, await forge.ada.post('/repos/ada/engine/hooks', { config: { url: receiver.url, secret } }))
  const path = `${repository}/${id}/diagnose`
  const well = await ada.fill(path, {})
  assert.match(well.text, /All is well\./)
  assert.match(well.text, /Answer passed/)
  assert.match(well.text, /Encryption skipped/)
  const bad = await ada.post(path, {})
  assert.match(bad.text, /It fails at this step: Answer\./)
  assert.match(bad.text, /Answer failed<\/strong> <span>Answered 500/)
  assert.equal(receiver.received.length, 2)
  assert.equal(bad.text.includes(secret), false)
})

test('the stream of a page ends with the right to look', async () => {
  await using forge = await openPlaces()
  const hook = await hookOn(forge.ada, 'repos/ada/engine', 'push')
  const ada = await signedIn(forge, 'ada')
  await using stream = await follow(forge, ada, `${repository}/${hook.id}/stream`)
  await expect(204, await forge.ada.post(`/repos/ada/engine/hooks/${hook.id}/pings`))
  await stream.until(/data: \{\}/)
  await expect(204, await forge.ada.delete(`/repos/ada/engine/hooks/${hook.id}`))
  await stream.ended
})

/** Reads a stream with a guest's cookies. */
async function follow({ web }: Forge, guest: Guest, path: string) {
  const stop = new AbortController()
  const cookie = [...guest.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answer = await fetch(`${web}${path}`, { headers: { cookie }, signal: stop.signal })
  assert.equal(answer.status, 200)
  let text = ''
  let wake = () => {}
  const ended = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk, { stream: true })
      wake()
    }
  })()
  return {
    ended,
    async until(wanted: RegExp) {
      while (!wanted.test(text)) await new Promise<void>((resolve) => (wake = resolve))
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await ended.catch(() => {})
    },
  }
}
