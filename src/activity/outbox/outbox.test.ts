import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '#platform/database.ts'
import { engine, openWithEngine } from '#test/conversations.ts'
import { expect } from '#test/forge.ts'
import { checkPayload } from '#test/webhook-schemas.ts'
import { heardOf, hookOn } from '#test/webhooks.ts'

test('only active, subscribed hooks get a delivery, and only for committed acts', async () => {
  await using forge = await openWithEngine()
  const { ada, dan, open } = forge
  const { db } = forge.belfry
  const stored = async () => {
    const rows = await db.rows<{ said: string }>(sql`
      select u.hook_id || ' ' || p.event || ' ' || p.action as said from pending_deliveries u join payloads p on p.id = u.payload_id
      where p.event <> 'ping' order by u.id`)
    return rows.map(({ said }) => said)
  }
  assert.deepEqual(await heardOf(forge, () => open({ labels: ['hot'] })), [])
  assert.deepEqual(await stored(), [])

  const listen = async (name: string, active: boolean, ...events: string[]) => {
    const config = { url: `http://127.0.0.1:8000/${name}` }
    return expect(201, await ada.post(`${engine}/hooks`, { config, events, active }))
  }
  const [all, labels] = [await listen('all', true, '*'), await listen('labels', true, 'label', 'push')]
  await listen('asleep', false, 'issues', 'label')
  await open({ labels: ['cold'] })
  assert.deepEqual((await stored()).toSorted(), [
    `${all.id} issues labeled`,
    `${all.id} issues opened`,
    `${all.id} label created`,
    `${labels.id} label created`,
  ])

  const refused: [status: number, sent: () => Promise<Response>][] = [
    [422, () => ada.post(`${engine}/issues`, { title: ' ', labels: ['odd'] })],
    [422, () => ada.post(`${engine}/issues`, { title: 'Smoke', labels: ['odd'], milestone: 9 })],
    [422, () => ada.patch(`${engine}/issues/1`, { title: 'Fire', labels: ['odd'], assignees: ['dan'] })],
    [422, () => ada.post(`${engine}/issues/1/comments`, { body: ' ' })],
    [422, () => ada.post(`${engine}/labels`, { name: 'HOT' })],
    [422, () => ada.patch(`${engine}/labels/hot`, { new_name: 'cold' })],
    [403, () => dan.patch(`${engine}/issues/1`, { title: 'Fire' })],
    [403, () => dan.delete(`${engine}/labels/hot`)],
    [404, () => ada.delete(`${engine}/milestones/1`)],
  ]
  const heard = await heardOf(forge, async () => {
    for (const [status, sent] of refused) await expect(status, await sent())
  })
  assert.deepEqual(heard, [])
})

test('hooks of a private repository get its deliveries, and hooks of an organization those of all its repositories', async () => {
  await using forge = await openWithEngine()
  const { ada } = forge
  await forge.organization('acme', ada)
  for (const name of ['mill', 'tower']) await expect(201, await ada.post('/orgs/acme/repos', { name, private: name === 'mill' }))
  await ada.owns('secret', { private: true })
  await hookOn(ada, 'orgs/acme', 'issues')
  await hookOn(ada, 'repos/ada/secret', 'issues')
  const open = (path: string) =>
    heardOf(forge, async () => expect(201, await ada.post(`/repos/${path}/issues`, { title: 'Smoke' })))
  for (const path of ['acme/mill', 'acme/tower']) {
    const [news, ...more] = await open(path)
    assert.deepEqual([news?.payload.repository.full_name, more], [path, []])
    assert.deepEqual(
      [news?.payload.organization.login, news?.payload.organization.url],
      ['acme', `${forge.web}/api/v3/orgs/acme`],
    )
    checkPayload('issues', news?.payload)
  }
  const [own] = await open('ada/secret')
  assert.equal(own?.payload.repository.private, true)
  assert.ok(!('organization' in own.payload))
  assert.deepEqual(await open('ada/engine'), [])
})
