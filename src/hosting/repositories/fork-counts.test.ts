import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fineGrained, join } from '#test/conversations.ts'
import { type Client, expect, injecting, openForge, type Person } from '#test/forge.ts'

const inject = injecting(openWithFork)
const engine = '/repos/ada/engine'

interface Counted {
  full_name: string
  forks_count: number
  forks: number
  network_count?: number
}

/** The forks and network counts of Ada's engine, from every response that has them. */
async function countsFor(client: Client): Promise<[forks: number, network: number]> {
  const whole: Counted = await client.read(engine)
  assert.equal(whole.forks, whole.forks_count)
  const network = whole.network_count ?? 0
  const [starred] = await client.read('/users/eve/starred')
  const [owned] = await client.read('/users/ada/repos')
  const [{ base }] = await client.read(`${engine}/pulls`)
  for (const shown of [starred, owned, base.repo] as Counted[]) {
    assert.equal(shown.full_name, 'ada/engine')
    assert.deepEqual([shown.forks_count, shown.forks], [whole.forks_count, whole.forks_count])
  }
  assert.equal(starred.network_count, network)
  assert.equal((await client.read(`${engine}/forks`)).length, whole.forks_count, 'the list has as many')
  return [whole.forks_count, network]
}

/** Ada's engine with a pull request, which Eve has starred. */
async function openWithFork() {
  const forge = await openForge()
  const [ada, ben, cy] = [await forge.person('ada'), await forge.person('ben'), await forge.person('cy')]
  const eve = await forge.person('eve')
  await ada.owns('engine', { auto_init: true })
  const { object } = await ada.read(`${engine}/git/ref/heads/main`)
  await expect(201, await ada.post(`${engine}/git/refs`, { ref: 'refs/heads/topic', sha: object.sha }))
  const note = { message: 'Note', content: btoa('A note.'), branch: 'topic' }
  await expect(201, await ada.put(`${engine}/contents/note.txt`, note))
  await expect(201, await ada.post(`${engine}/pulls`, { title: 'Note', head: 'topic', base: 'main' }))
  assert.equal((await eve.put('/user/starred/ada/engine')).status, 204)
  return Object.assign(forge, { ada, ben, cy, eve })
}

const forkBy = async (who: Person) => expect(202, await who.post(`${engine}/forks`))

test('no count includes forks that the viewer may not see', inject(async (forge) => {
  const { ada, ben, cy, eve, nobody, nobodyVersioned } = forge
  await forkBy(ben)
  await forkBy(cy)
  for (const client of [nobody, nobodyVersioned, ada, cy]) assert.deepEqual(await countsFor(client), [2, 3])
  await expect(200, await cy.patch('/repos/cy/engine', { private: true }))
  const weak = await forge.tokenFor('cy', ['public_repo'])
  const elsewhere = await fineGrained(forge, 'ben', { metadata: 'read', pull_requests: 'read' })
  for (const client of [nobody, nobodyVersioned, ada, ada.versioned, eve, weak, elsewhere])
    assert.deepEqual(await countsFor(client), [1, 2])
  for (const client of [cy, cy.versioned]) assert.deepEqual(await countsFor(client), [2, 3])
  const page = await fetch(`${forge.web}/ada/engine`)
  assert.match(await page.text(), /aria-label="1 forks?"/)
  await join(cy, eve, 'pull', '/repos/cy/engine')
  assert.deepEqual(await countsFor(eve), [2, 3], 'whoever is let in counts it')
  await expect(200, await cy.patch('/repos/cy/engine', { private: true }))
  assert.deepEqual(await countsFor(nobody), [1, 2], 'hiding it twice counts once')
  await expect(200, await cy.patch('/repos/cy/engine', { visibility: 'public' }))
  assert.deepEqual(await countsFor(nobody), [2, 3])
}))

test('counts stay right as forks are hidden and deleted', inject(async ({ ada, ben, cy, eve, nobody, clock }) => {
  for (const who of [ben, cy, eve]) {
    clock.advance(1000)
    await forkBy(who)
  }
  await expect(200, await cy.patch('/repos/cy/engine', { private: true }))
  assert.deepEqual(await countsFor(nobody), [2, 3])
  assert.equal((await cy.delete('/repos/cy/engine')).status, 204)
  assert.deepEqual(await countsFor(nobody), [2, 3])
  clock.advance(1000)
  await forkBy(cy)
  await expect(200, await cy.patch('/repos/cy/engine', { private: true }))
  assert.equal((await ada.delete(engine)).status, 204)
  const shown = async (client: Client) => {
    const { forks_count, network_count, fork } = await client.read('/repos/ben/engine')
    return { forks_count, network_count, fork }
  }
  assert.deepEqual(await shown(nobody), { forks_count: 1, network_count: 2, fork: false })
  assert.deepEqual(await shown(cy), { forks_count: 2, network_count: 3, fork: false })
}))

test('concurrent changes of visibility keep the counts right', inject(async ({ person, nobody }) => {
  const people = await Promise.all(Array.from({ length: 8 }, (_, index) => person(`forker-${index}`)))
  for (const who of people) await forkBy(who)
  const answers = await Promise.all(
    people.flatMap((who, index) => [
      who.patch(`/repos/${who.login}/engine`, { private: true }),
      index % 2
        ? who.delete(`/repos/${who.login}/engine`)
        : who.patch(`/repos/${who.login}/engine`, { private: index % 4 === 0 }),
    ]),
  )
  for (const { status } of answers) assert.ok([200, 204, 404].includes(status), `${status}`)
  const forks: { private: boolean }[] = await nobody.read(`${engine}/forks?per_page=100`)
  assert.deepEqual(await countsFor(nobody), [forks.length, forks.length + 1])
}))
