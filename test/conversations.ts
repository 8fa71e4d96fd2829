import { acceptInvitation, addCollaborator } from '#hosting/collaborators/collaborators.ts'
import { loadRepository } from '#hosting/repositories/repositories.ts'
import { levelOf } from '#identity/access.ts'
import { loadUser } from '#identity/accounts.ts'
import { sql } from '#platform/database.ts'
import { digest } from '#platform/secrets.ts'
import { expect, type Forge, type ForgeOptions, openForge, Person } from './forge.ts'

export const engine = '/repos/ada/engine'
export const repo = { owner: 'ada', repo: 'engine' }

/** A repository to talk in: Ada owns it, Ben may push, Cy may sort issues, Dan is a stranger. */
export async function openWithEngine(options: ForgeOptions = {}) {
  const forge = await openForge(options)
  const ada = await forge.person('ada')
  const ben = await forge.person('ben')
  const cy = await forge.person('cy')
  const dan = await forge.person('dan')
  const { id } = await ada.owns('engine')
  // Without HTTP: hundreds of tests begin like this, and the four requests took a fifth of it.
  const { db } = forge.belfry
  const owner = await loadUser(db, 'ada')
  const place = await loadRepository(db, { viewer_id: owner.id, sees_private: true }, 'ada', 'engine')
  for (const [login, permission] of [
    ['ben', 'push'],
    ['cy', 'triage'],
  ] as const) {
    const user = await loadUser(db, login)
    const invited = await db.transaction((transaction) => addCollaborator(transaction, place, owner, user, levelOf(permission)))
    await db.transaction((transaction) => acceptInvitation(transaction, user, invited?.id ?? 0))
  }
  const open = async (body: Record<string, unknown> = {}, who = ada) =>
    expect(201, await who.post(`${engine}/issues`, { title: 'Smoke', ...body }))
  return Object.assign(forge, { ada, ben, cy, dan, id: id as number, open })
}

/** Ada's repository with a first commit. */
export async function openInitialized() {
  const forge = await openForge()
  const ada = await forge.person('ada')
  const { id } = await ada.owns('engine', { auto_init: true })
  return Object.assign(forge, { ada, id: id as number })
}

/** Invites a person to a repository, who accepts. */
export async function join(owner: Person, person: Person, permission: string, path = engine) {
  const { id } = await expect(201, await owner.put(`${path}/collaborators/${person.login}`, { permission }))
  await expect(204, await person.patch(`/user/repository_invitations/${id}`))
}

/** What happened to issues, a line each, oldest first. */
export async function issueEvents({ belfry: { db } }: Forge) {
  const rows = await db.rows<{ said: string }>(sql`
    select concat_ws(' ', a.login, e.payload->>'action', p.login, l.name) as said
    from events e join accounts a on a.id = e.actor_id left join accounts p on p.id = (e.payload->>'assignee_id')::bigint
      left join labels l on l.id = (e.payload->>'label_id')::bigint
    where e.type = 'IssuesEvent' order by e.id`)
  return rows.map(({ said }) => said)
}

/** A fine-grained token of a person, for what they own, or what an organization does. */
export async function fineGrained({ belfry: { db }, web, versioned }: Forge, login: string, permissions: object, owner = login) {
  const token = `bfp_fine_${login}_${owner}_${JSON.stringify(permissions).replaceAll(/\W/g, '')}`
  await db.query(sql`
    insert into tokens (user_id, digest, last_eight, kind, scopes, permissions, resource_owner_id, created_at, updated_at)
    select a.id, ${digest(token)}, '', 'fine_grained', '{}', ${permissions}, o.id, a.created_at, a.created_at
    from accounts a, accounts o where a.login = ${login} and o.login = ${owner}`)
  return new Person(login, token, { web, versioned })
}
