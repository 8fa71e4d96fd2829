import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Contract, type Fault, type VariantName } from '#test/activity/schemas.ts'
import { type Client, expect } from '#test/forge.ts'
import { openGuild } from '#test/guild.ts'
import { fillInbox, told } from '#test/inbox.ts'

test('every response about notifications matches the public documentation on both variants', async () => {
  await using forge = await openGuild()
  const { ada, ben, cy } = forge
  const place = await forge.place({ auto_init: true })
  await place.watch(ben)
  await place.say(ada, await place.open(cy, { body: '@ben' }))
  const { sha } = await ada.read(`${place.path}/commits/main`)
  await expect(201, await ada.post(`${place.path}/commits/${sha}/comments`, { body: 'Why?' }))
  await expect(201, await ada.post(`${place.path}/releases`, { tag_name: 'v1' }))
  await ada.owns('mill', { private: true })
  await expect(201, await ada.put('/repos/ada/mill/collaborators/ben', {}))
  await told(forge)
  const all = await ben.read('/notifications')
  assert.deepEqual(all.map(({ subject }: { subject: { type: string } }) => subject.type).toSorted(), [
    'Commit',
    'Issue',
    'Release',
    'RepositoryInvitation',
  ])
  await expect(205, await ben.patch(`/notifications/threads/${all[0].id}`))
  for (const name of ['self-hosted', 'versioned'] satisfies VariantName[]) {
    const contract = Contract.of(name)
    const client: Client = name === 'versioned' ? ben.versioned : ben
    const faults: Fault[] = []
    const check = async (operation: string, status: number, answer: Response) => {
      const body = await expect(status, answer)
      if (Array.isArray(body)) assert.ok(body.length > 0, operation)
      faults.push(...contract.check(operation, status, 'application/json', body))
    }
    await check('activity/list-notifications-for-authenticated-user', 200, await client.get('/notifications?all=true'))
    await check(
      'activity/list-repo-notifications-for-authenticated-user',
      200,
      await client.get(`${place.path}/notifications?all=true`),
    )
    for (const { id } of all) {
      const thread = `/notifications/threads/${id}`
      await check('activity/get-thread', 200, await client.get(thread))
      await check('activity/set-thread-subscription', 200, await client.put(`${thread}/subscription`, { ignored: true }))
      await check('activity/set-thread-subscription', 200, await client.put(`${thread}/subscription`, {}))
      await check('activity/get-thread-subscription-for-authenticated-user', 200, await client.get(`${thread}/subscription`))
    }
    await check('activity/mark-repo-notifications-as-read', 202, await client.put(`${place.path}/notifications`))
    const crowded = await forge.place()
    await fillInbox(forge, ben, crowded, 1001)
    await check('activity/mark-notifications-as-read', 202, await client.put('/notifications'))
    await told(forge)
    assert.deepEqual([...new Set(faults.map(({ operation, path, message }) => `${operation} ${path} ${message}`))], [])
  }
})
