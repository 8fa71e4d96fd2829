import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { type Forge, openForge } from '#test/forge.ts'
import { Guest, type Shown, signedIn } from '#test/guest.ts'

/** A provider of text messages on this machine, that keeps what it was asked to send. */
async function openProvider() {
  const requests: { url: string | undefined; headers: Record<string, unknown>; body: string }[] = []
  const provider = { status: 202, requests }
  const server = createServer(async (request, response) => {
    requests.push({ url: request.url, headers: request.headers, body: await text(request) })
    response.writeHead(provider.status).end('ok')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return Object.assign(provider, {
    url: `http://key:s%C3%A9cret@127.0.0.1:${port}/send?from=belfry`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

const alertOf = (page: Shown) => /role="alert">([^<]*)</.exec(page.text)?.[1]
const phone = '+49301234567'

/** Codes of this person come by text message from now on. */
async function useTexts({ belfry, clock }: Forge, login: string) {
  await belfry.db.query(sql`
    insert into two_factor (user_id, kind, phone, enabled_at)
    select id, 'sms', ${phone}, ${clock.now()} from accounts where login = ${login}`)
}

test('codes go to the endpoint of BELFRY_SMS_URL, and a failure is told', async () => {
  await using provider = await openProvider()
  await using forge = await openForge({ settings: { BELFRY_SMS_URL: provider.url } })
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  assert.match((await ada.get('/settings/security')).text, /Set up text messages/)
  const sent = await ada.fillAndFollow('/settings/security/text', { phone: '+49 30 1234567' })
  assert.match(sent.text, new RegExp(`A code was sent to <strong>\\${phone}<`))
  const [first] = provider.requests
  assert.deepEqual([first?.url, first?.headers['content-type']], ['/send?from=belfry', 'application/json'])
  assert.equal(first?.headers.authorization, `Basic ${Buffer.from('key:sécret').toString('base64')}`)
  const { to, text: words } = JSON.parse(first?.body ?? '')
  assert.equal(to, phone)
  const otp = /^\d{6}/.exec(words)?.[0] ?? ''
  const proposal = /name="proposal" value="([\w-]+)"/.exec(sent.text)?.[1] ?? ''
  const on = await ada.postAndFollow('/settings/security/text', { proposal, otp })
  const recovery = /[a-z\d]{5}-[a-z\d]{5}/.exec(/class="secret">([^<]+)/.exec(on.text)?.[1] ?? '')?.[0] ?? ''
  assert.ok(recovery)

  forge.clock.advance(61_000)
  provider.status = 500
  const again = new Guest(forge)
  const half = await again.signIn('ada')
  const page = await again.get(half.location ?? '')
  assert.match(alertOf(page) ?? '', /could not be sent[\s\S]*recovery code/)
  assert.equal((await again.post('/login/otp', { action: 'again' })).status, 422, 'one a minute')
  assert.equal(provider.requests.length, 2)
  assert.equal((await again.post('/login/otp', { otp: recovery })).status, 303)
  const log = forge.logged.join('')
  assert.match(log, /the endpoint answered 500/)
  for (const secret of [otp, phone, 'cret']) assert.ok(!log.includes(secret), secret)
})

test('without BELFRY_SMS_URL text messages are not offered, and who has them uses a recovery code', async () => {
  await using forge = await openForge({ settings: { BELFRY_SMS_URL: '' } })
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  assert.doesNotMatch((await ada.get('/settings/security')).text, /text message/)
  assert.equal((await ada.get('/settings/security/text')).status, 404)
  assert.equal((await ada.fill('/settings/security', { phone }, '/settings/security/text')).status, 404)
  await useTexts(forge, 'ada')
  assert.match(alertOf(await ada.get('/settings/security')) ?? '', /does not send text messages/)
  const again = new Guest(forge)
  const half = await again.signIn('ada')
  const page = await again.get(half.location ?? '')
  assert.match(page.text, /does not send any at present[\s\S]*>Recovery code</)
  assert.doesNotMatch(page.text, /Send again/)
  assert.equal((await again.post('/login/otp', { action: 'again' })).status, 422)
  const basic = forge.nobody.with({ authorization: `Basic ${btoa("ada:ada's password")}` })
  assert.equal((await basic.get('/authorizations')).headers.get('x-service-otp'), 'required; sms')
})

test('"log" writes text messages to the log, for trying', async () => {
  await using forge = await openForge({ settings: { BELFRY_SMS_URL: 'log' } })
  await forge.person('ada')
  const ada = await signedIn(forge, 'ada')
  await ada.fill('/settings/security/text', { phone })
  assert.match(forge.logged.join(''), /"to":"\+49301234567","text":"\d{6} is your Belfry sign-in code\."/)
})
