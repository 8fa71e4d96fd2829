import { engine } from './conversations.ts'
import { expect, openForge, type Person } from './forge.ts'
import { until } from './machine.ts'

/**
 * Ben watches two repositories of Ada's, and has four unread threads, the newest first: an issue of the site, a release, an issue that mentions
 * him, and one that does not. Cy and Dan have none.
 */
export async function openReading() {
  const forge = await openForge({ worker: true })
  const people = {
    ada: await forge.person('ada'),
    ben: await forge.person('ben'),
    cy: await forge.person('cy'),
    dan: await forge.person('dan'),
  }
  const { ada, ben } = people
  for (const name of ['engine', 'site']) {
    await ada.owns(name, { auto_init: true })
    await expect(200, await ben.put(`/repos/ada/${name}/subscription`, { subscribed: true }))
  }
  const told = (person: Person, count: number) =>
    until(`${person.login} has ${count} threads`, async () => (await person.read('/notifications?all=true')).length === count)
  const acts = [
    () => ada.post(`${engine}/issues`, { title: 'Smoke' }),
    () => ada.post(`${engine}/issues`, { title: 'Steam & 100% gears', body: 'See, @ben' }),
    () => ada.post(`${engine}/releases`, { tag_name: 'v1', name: 'First' }),
    () => ada.post('/repos/ada/site/issues', { title: 'Broken link' }),
  ]
  for (const [index, act] of acts.entries()) {
    forge.clock.advance(60_000)
    await expect(201, await act())
    await told(ben, index + 1)
  }
  forge.clock.advance(60_000)
  return Object.assign(forge, people, { told })
}
