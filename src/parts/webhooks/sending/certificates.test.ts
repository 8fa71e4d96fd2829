import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withLoopback } from '#platform/outbound/policy.ts'
import { certificateFile, certificateOf } from '#test/certificates.ts'
import { shareEngine } from '#test/hooks.ts'
import { delivered, openReceiver } from '#test/webhooks.ts'
import { failureOf } from './failures.ts'
import { openTransport } from './transport.ts'

const { forge, ada, hookTo } = await shareEngine({ worker: true, settings: { BELFRY_CA: certificateFile('authority') } })

async function outcomeOf(url: string, insecure_ssl = '0') {
  const hook = await hookTo(url, { insecure_ssl })
  const [{ status, status_code }] = await delivered(ada, hook)
  return [status_code, status]
}

test('a certificate is accepted if a trusted authority signed it for the host, or if the hook disables the check', async () => {
  const distrusted = 'Peer certificate cannot be authenticated: '
  for (const [name, said] of [
    ['signed', 'OK'],
    ['localhost', `${distrusted}self-signed certificate`],
    ['expired', `${distrusted}certificate has expired`],
    ['elsewhere', `${distrusted}Hostname/IP does not match certificate's altnames: IP: 127.0.0.1 is not in the cert's list:`],
  ] as const) {
    await using receiver = await openReceiver(undefined, certificateOf(name))
    assert.deepEqual(await outcomeOf(receiver.url), [said === 'OK' ? 200 : 502, said], name)
    assert.equal(receiver.received.length, said === 'OK' ? 1 : 0, 'nothing is told before the certificate is known')
    assert.deepEqual(await outcomeOf(receiver.url, '1'), [200, 'OK'], name)
    // Disabling the check for one hook does not affect another.
    const again = await openReceiver(undefined, certificateOf(name))
    await using _ = again
    assert.deepEqual(await outcomeOf(again.url), [said === 'OK' ? 200 : 502, said], name)
  }
})

test('a receiver without TLS is recorded as a failed handshake, also with insecure_ssl', async () => {
  await using receiver = await openReceiver()
  for (const insecure_ssl of ['0', '1'])
    assert.deepEqual(await outcomeOf(receiver.url.replace('http:', 'https:'), insecure_ssl), [502, 'the TLS handshake failed'])
  assert.equal(receiver.received.length, 0)
})

test('an additional authority is trusted only if the settings name it', async () => {
  await using receiver = await openReceiver(undefined, certificateOf('signed'))
  const transport = openTransport(withLoopback(forge.belfry.settings.BELFRY_WEBHOOK_ADDRESSES), null)
  const post = transport.post(receiver.url, {}, Buffer.from('{}'), false, 10, new AbortController().signal)
  const { status, status_code } = await post.then(() => assert.fail(), failureOf)
  await transport.close()
  assert.equal(status_code, 502)
  assert.match(status, /^Peer certificate cannot be authenticated: unable to verify the first certificate/)
  assert.equal(receiver.received.length, 0)
})
