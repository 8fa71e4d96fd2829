import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { maintenanceTasks } from '#hosting/maintenance/jobs.ts'
import { sql } from '#platform/database.ts'
import { join } from './conversations.ts'
import { errorsOf, expect, type Forge, openForge, type Person } from './forge.ts'
import { Desk } from './git.ts'
import { findLeftovers } from './leftovers.ts'
import * as lfs from './lfs.ts'
import { until } from './machine.ts'
import { openReceiver } from './webhooks.ts'

const engine = '/repos/ada/engine'

interface Scene {
  forge: Forge
  ada: Person
  ben: Person
  desk: Desk
}

/** Does something with the repository, and gives the statuses of the responses. */
type Act = () => Promise<number[]>

/** An engine with everything that work may be going on with. */
async function prepare({ forge, ada, ben, desk }: Scene, receiver: { url: string }) {
  const repo = await ada.owns('engine', { auto_init: true, is_template: true })
  await join(ada, ben, 'push')
  await expect(201, await ada.post(`${engine}/hooks`, { events: ['*'], config: { url: receiver.url } }))
  const work = await desk.clone(ada, 'ada/engine')
  await work.push('HEAD:refs/heads/renamed')
  await work.git('checkout', '--quiet', '-b', 'topic')
  await work.commit('Notes')
  await work.push()
  const fork = await expect(202, await ben.post(`${engine}/forks`, { name: 'copy' }))
  const pull = await expect(201, await ben.post(`${engine}/pulls`, { title: 'Notes', head: 'topic', base: 'main' }))
  const release = await expect(201, await ada.post(`${engine}/releases`, { tag_name: 'v1' }))
  const target = await ada.owns('imported')
  return { repo, fork, pull, release, work, target, forge }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

function actsOn({ forge, ada, ben, desk }: Scene, { work, pull, release }: Prepared): Record<string, Act> {
  let count = 0
  const next = () => ++count
  const statusOf = async (answering: Promise<Response>) => {
    const answer = await answering
    // An archive may break off.
    const body = await answer.text().catch(() => '')
    assert.ok(answer.status < 500, `${answer.url} gave ${answer.status}: ${body.slice(0, 300)}`)
    return [answer.status]
  }
  const content = Buffer.from('text').toString('base64')
  return {
    push: async () => {
      await work.commit(`Go on ${next()}`)
      const { status, stderr } = await work.attempt('push', 'origin', 'topic')
      assert.doesNotMatch(stderr, /error: 5\d\d|HTTP 5\d\d/)
      return [status === 0 ? 200 : 404]
    },
    clone: async () => {
      const cloned = await desk.clone(null, 'ada/engine').catch((error: Error) => error)
      if (!(cloned instanceof Error)) return [200]
      assert.doesNotMatch(cloned.message, /error: 5\d\d|HTTP 5\d\d/)
      return [404]
    },
    write: () => statusOf(ada.put(`${engine}/contents/${next()}.txt`, { message: 'Write', content, branch: 'main' })),
    issue: () => statusOf(ben.post(`${engine}/issues`, { title: 'Look', body: '@ada', assignees: ['ada'] })),
    merge: () => statusOf(ada.put(`${engine}/pulls/${pull.number}/merge`)),
    propose: () => statusOf(ben.post(`${engine}/pulls`, { title: 'Mine', head: 'ben:main', base: 'topic' })),
    comment: () => statusOf(ben.post(`${engine}/issues/${pull.number}/comments`, { body: `Look ${next()} @ada` })),
    edit: async () => {
      const state = next() % 2 ? 'closed' : 'open'
      return statusOf(ada.patch(`${engine}/issues/${pull.number}`, { state, title: `Notes ${count}` }))
    },
    label: () => statusOf(ada.post(`${engine}/issues/${pull.number}/labels`, { labels: [`l${next()}`] })),
    review: () => statusOf(ada.post(`${engine}/pulls/${pull.number}/reviews`, { event: 'COMMENT', body: `Look ${next()}` })),
    release: () => statusOf(ada.patch(`${engine}/releases/${release.id}`, { body: `Look ${next()} @ben` })),
    compare: () => statusOf(ada.get(`${engine}/compare/main...topic`)),
    archive: () => statusOf(fetch(`${forge.web}/ada/engine/archive/refs/heads/main.zip`)),
    tree: () => statusOf(fetch(`${forge.web}/ada/engine/commits/topic`)),
    asset: () => {
      const url = release.upload_url.replace('{?name,label}', `?name=${next()}.bin`)
      return statusOf(fetch(url, { method: 'POST', body: 'contents', headers: { ...ada.headers, 'content-type': 'a/b' } }))
    },
    lfs: async () => {
      const { status, text } = await lfs.put(forge, ada.token, 'ada/engine', `large ${next()}`)
      assert.ok(status < 500, `LFS gave ${status}: ${text}`)
      return [status]
    },
    rename: async () => {
      const [from, to] = next() % 2 ? ['renamed', 'again'] : ['again', 'renamed']
      return [
        ...(await statusOf(ada.post(`${engine}/branches/${from}/rename`, { new_name: to }))),
        ...(await statusOf(ada.post(`${engine}/branches/${to}/rename`, { new_name: from }))),
      ]
    },
    branch: async () => {
      const found = await ada.get(`${engine}/git/ref/heads/main`)
      if (found.status !== 200) return [found.status]
      const { object } = (await found.json()) as { object: { sha: string } }
      return statusOf(ada.post(`${engine}/git/refs`, { ref: `refs/heads/b${next()}`, sha: object.sha }))
    },
    transfer: async () => [
      ...(await statusOf(ada.post(`${engine}/transfer`, { new_owner: 'cy' }))),
      ...(await statusOf(ada.delete(`${engine}/transfer`))),
    ],
    fork: async () => {
      const forked = await ben.post(`${engine}/forks`, { name: `fork${next()}` })
      return statusOf(Promise.resolve(forked))
    },
    generate: () => statusOf(ben.post(`${engine}/generate`, { name: `made${next()}` })),
    star: () => statusOf(ben.put(`/user/starred/ada/engine`)),
    import: async () => {
      const source = { vcs: 'git', vcs_url: `${forge.web}/ada/engine.git` }
      return [...(await statusOf(ada.put('/repos/ada/imported/import', source))), ...(await statusOf(ada.get(engine)))]
    },
    check: async () => {
      const { check_repositories } = maintenanceTasks(forge.belfry.db, forge.belfry.storage, forge.belfry.log)
      await (check_repositories as (payload: object) => Promise<void>)({})
      return statusOf(ada.get(engine))
    },
  }
}

const isBusy = async ({ belfry: { db } }: Forge) => {
  // A job that waits for another is tried again at once.
  await db.query(sql`
    update graphile_worker._private_jobs set run_at = now() where attempts between 1 and max_attempts - 1 and locked_at is null`)
  const busy = await db.rows(sql`
    select task_identifier from graphile_worker.jobs
    where attempts < max_attempts and (locked_at is not null or run_at <= now())
    union all select 'import' from imports where active
    union all select 'delivery' from pending_deliveries`)
  return busy.length > 0
}

const repository = { what: 'a repository', remove: ({ ada }: Scene) => ada.delete(engine) }
const owner = { what: 'the owner of a repository', remove: ({ forge }: Scene) => forge.admin.delete('/admin/users/ada') }
const worker = {
  what: 'a user who works on a repository',
  remove: ({ forge }: Scene) => forge.admin.delete('/admin/users/ben'),
}

for (const { what, remove, after } of [
  ...[0, 10, 40].map((after) => ({ ...repository, after })),
  { ...owner, after: 10 },
  { ...worker, after: 10 },
]) {
  test(`deleting ${what} while work goes on, after ${after} acts, causes no error and leaves nothing`, async () => {
    await using forge = await openForge({
      worker: true,
      settings: { BELFRY_WEBHOOK_ADDRESSES: 'loopback', BELFRY_IMPORT_ADDRESSES: 'loopback' },
    })
    await using receiver = await openReceiver()
    await using desk = await Desk.open(forge)
    const [ada, ben] = [await forge.person('ada'), await forge.person('ben')]
    await forge.person('cy')
    const scene = { forge, ada, ben, desk }
    const prepared = await prepare(scene, receiver)
    let [done, deleted] = [0, false]
    const repeat = async ([name, act]: [string, Act]) => {
      // Each is done once more after the deletion.
      for (let last = false; !last; done++) {
        last = deleted
        for (const status of await act()) assert.ok(status < 500, `${name} gave ${status}`)
      }
    }
    const deletion = async () => {
      await until(`${after} acts are done`, () => done >= after)
      const answer = await remove(scene)
      deleted = true
      assert.equal(answer.status, 204, await answer.text())
    }
    await Promise.all([...Object.entries(actsOn(scene, prepared)).map(repeat), deletion()])
    if (what === worker.what) await expect(204, await ada.delete(engine))
    await until('all work has ended', async () => !(await isBusy(forge)))
    assert.deepEqual(errorsOf(forge), [])
    const query = async (text: string) => (await forge.belfry.db.pool.query(text)).rows
    assert.deepEqual(await findLeftovers(query, [prepared.repo.id]), [])
    const path = forge.belfry.storage.pathOf(prepared.repo.id)
    for (const folder of [path, `${path}.new`]) assert.ok(!existsSync(folder), folder)
  })
}
