import { pullTasks } from '#hosting/pulls/jobs.ts'
import { repositoryTasks } from '#hosting/repositories/jobs.ts'
import { sql } from '#platform/database.ts'
import { engine, openWithEngine } from './conversations.ts'
import { expect, type Forge, type ForgeOptions, type Person } from './forge.ts'
import { runJobs } from './jobs.ts'
import { seeding } from './seeding.ts'

const seed = seeding('ada', async (work) => {
  const main = await work.commit('Begin', { 'readme.txt': 'one\ntwo\nthree\n' })
  await work.git('checkout', '--quiet', '-b', 'topic')
  return { branches: { main, topic: await work.commit('Add notes', { 'notes.txt': 'A note.\n' }) } }
})

/** Ada's engine with a branch `topic`, one commit ahead of `main`; Ben may push, Cy may sort, Dan is a stranger. */
export async function openWithTopic(options: ForgeOptions = {}) {
  const forge = await openWithEngine(options)
  const { desk, work, branches } = await seed(forge, forge.ada)
  const propose = async (body: Record<string, unknown> = {}, who: Person = forge.ada) =>
    expect(201, await who.post(`${engine}/pulls`, { title: 'Notes', head: 'topic', base: 'main', ...body }))
  return Object.assign(forge, {
    desk,
    work,
    ...branches,
    propose,
    /** Does what follows from pushes, and from forks. */
    follow: () =>
      runJobs(forge, {
        ...pullTasks(forge.belfry.db, forge.belfry.storage),
        ...repositoryTasks(forge.belfry.db, forge.belfry.storage),
      }),
  })
}

/** What happened to pull requests, a line each, oldest first. */
export async function pullEvents({ belfry: { db } }: Forge) {
  const rows = await db.rows<{ said: string }>(sql`
    select concat_ws(' ', a.login, e.payload->>'action', case when e.payload ? 'merged' then 'merged' end, i.number, p.login, l.name) as said
    from events e join accounts a on a.id = e.actor_id join pulls u on u.id = (e.payload->>'pull_id')::bigint
      join issues i on i.id = u.issue_id left join accounts p on p.id = (e.payload->>'assignee_id')::bigint
      left join labels l on l.id = (e.payload->>'label_id')::bigint
    where e.type = 'PullRequestEvent' order by e.id`)
  return rows.map(({ said }) => said)
}
