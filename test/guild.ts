import { after } from 'node:test'
import { expect, type Forge, openForge, type Person } from './forge.ts'
import { inboxOf, openIssue, told } from './inbox.ts'

/**
 * A forge that tells people of what happens, for many tests, each in a place of its own: ada owns the organization `guild`, ben and cy are
 * its members, and dan is a stranger.
 */
export async function openGuild() {
  const forge = await openForge({ worker: true })
  const [ada, ben, cy, dan] = [
    await forge.person('ada'),
    await forge.person('ben'),
    await forge.person('cy'),
    await forge.person('dan'),
  ]
  await forge.organization('guild', ada)
  for (const { login } of [ben, cy]) await expect(200, await ada.put(`/orgs/guild/memberships/${login}`, {}))
  let places = 0
  const guild = { ...forge, ada, ben, cy, dan }
  return { ...guild, place: (options: Record<string, unknown> = {}) => openPlace(guild, `place-${++places}`, options) }
}

/** One for all tests of a file. */
export async function shareGuild() {
  const forge = await openGuild()
  after(() => forge[Symbol.asyncDispose]())
  return forge
}

/** A repository of the guild: ada owns and watches it, ben and cy may read it by name. */
async function openPlace(forge: Forge & { ada: Person }, name: string, options: Record<string, unknown>) {
  const path = `/repos/guild/${name}`
  const { id } = await expect(201, await forge.ada.post('/orgs/guild/repos', { name, ...options }))
  await expect(200, await forge.ada.put(`${path}/subscription`, { subscribed: true }))
  return {
    path,
    id: id as number,
    repo: { owner: 'guild', repo: name },
    open: (author: Person, fields: Record<string, unknown> = {}) => openIssue(author, path, fields),
    say: async (author: Person, number: number, body = 'So it does'): Promise<number> =>
      (await expect(201, await author.post(`${path}/issues/${number}/comments`, { body }))).id,
    watch: async (person: Person) => void (await expect(200, await person.put(`${path}/subscription`, { subscribed: true }))),
    /** What somebody is shown of it, newest first, a line each, once everyone was told. */
    async inbox(person: Person, query = '?all=true') {
      await told(forge)
      return inboxOf(person, query, path)
    },
    /** The one thread that somebody has of it, whether they may see the repository itself or not. */
    async thread(person: Person) {
      await told(forge)
      const all = await person.read('/notifications?all=true&per_page=100')
      const threads = all.filter(({ repository }: { repository: { name: string } }) => repository.name === name)
      if (threads.length !== 1) throw new Error(`${person.login} has ${threads.length} threads of ${name}`)
      return threads[0]
    },
  }
}

export type Place = Awaited<ReturnType<typeof openPlace>>
